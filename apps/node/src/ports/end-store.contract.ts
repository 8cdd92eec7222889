import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { EndStore, KeptEnd } from './end-store.ts';

export interface EndStoreSubject {
  store: EndStore;
  /** A second store over the same disk, as the next process would open it; the first is simply left. */
  crash(): EndStore;
  /** While true the disk takes nothing. */
  refuse(isRefusing: boolean): void;
  teardown(): Promise<void>;
}

/** What every store of ends does; B-numbers are the invariants of `EndStore`. */
export function endStoreContract(name: string, setup: () => Promise<EndStoreSubject>): void {
  describe(`${name} keeps the end store contract`, () => {
    let subject: EndStoreSubject;
    beforeEach(async () => {
      subject = await setup();
    });
    afterEach(() => subject.teardown());

    it('B2: gives what was kept, oldest first and byte for byte, here and after a crash', () => {
      const ends = [keptEnd('a'), keptEnd('b', { tail: [] }), keptEnd('a2', { attempt: 7 })];
      subject.store.keep(ends.slice(0, 1));
      subject.store.keep(ends.slice(1));
      assert.deepEqual(subject.store.kept(), ends);
      assert.deepEqual(subject.crash().kept(), ends);
    });

    it('B1: keeps all of them or none', () => {
      subject.store.keep([keptEnd('a')]);
      subject.refuse(true);
      assert.throws(() => subject.store.keep([keptEnd('b'), keptEnd('c')]), { code: 'store.refused' });
      subject.refuse(false);
      assert.deepEqual(subject.crash().kept(), [keptEnd('a')]);
    });

    it('B1: takes again what the disk refused before', () => {
      subject.refuse(true);
      assert.throws(() => subject.store.keep([keptEnd('a')]));
      subject.refuse(false);
      subject.store.keep([keptEnd('a')]);
      assert.deepEqual(subject.crash().kept(), [keptEnd('a')]);
    });

    it('B3: no longer gives what was forgotten, and only that', () => {
      subject.store.keep([keptEnd('a'), keptEnd('a', { attempt: 2 }), keptEnd('b')]);
      subject.store.forget({ runId: 'a', attempt: 1 });
      subject.store.forget({ runId: 'never-kept', attempt: 1 });
      assert.deepEqual(subject.store.kept(), [keptEnd('a', { attempt: 2 }), keptEnd('b')]);
      assert.deepEqual(subject.crash().kept(), [keptEnd('a', { attempt: 2 }), keptEnd('b')]);
    });

    it('B3: forgets in spite of a disk that refuses', () => {
      subject.store.keep([keptEnd('a')]);
      subject.refuse(true);
      subject.store.forget({ runId: 'a', attempt: 1 });
      subject.refuse(false);
      assert.deepEqual(subject.store.kept(), []);
    });

    it('holds an end with a tail of many parts', () => {
      const bytes = new Uint8Array(60_000).fill(7);
      const tail = Array.from({ length: 40 }, (_, at) => ({
        firstSeq: 5 + at * 3,
        lastSeq: 7 + at * 3,
        bytes,
      }));
      const end = keptEnd('big', { tail, lastSeq: 125 });
      subject.store.keep([end]);
      assert.deepEqual(subject.crash().kept(), [end]);
    });
  });
}

export function keptEnd(runId: string, values: Partial<KeptEnd> = {}): KeptEnd {
  return {
    runId,
    attempt: 1,
    lastSeq: 9,
    end: Uint8Array.of(1, 2, 3),
    tail: [
      { firstSeq: 4, lastSeq: 6, bytes: Uint8Array.of(0, 255, 4) },
      { firstSeq: 7, lastSeq: 8, bytes: Uint8Array.of(5) },
    ],
    endedAtMs: Date.UTC(2026, 0, 1),
    ...values,
  };
}
