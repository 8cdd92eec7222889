import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { RunStart, RunStore } from './run-store.ts';

/** What every history of a Node does; S-numbers are the invariants of `RunStore`. */
export function runStoreContract(
  name: string,
  setup: () => Promise<{ store: RunStore; teardown(): Promise<void> }>,
): void {
  describe(`${name} keeps the run store contract`, () => {
    let store: RunStore;
    let teardown: () => Promise<void>;
    beforeEach(async () => {
      ({ store, teardown } = await setup());
    });
    afterEach(() => teardown());

    it('S2: finds a run that runs', () => {
      store.startRun(runStart('a'));
      assert.deepEqual(store.recent(10), [{ ...runStart('a'), endedAtMs: undefined, end: undefined }]);
    });

    it('S2: finds how a run ended, whether or not it was written before', () => {
      for (const isWritten of [true, false]) {
        const runId = isWritten ? 'early' : 'late';
        store.startRun(runStart(runId));
        if (isWritten) store.flush();
        const usage = { promptTokens: 3, completionTokens: 4, estimated: false };
        store.completeRun({
          runId,
          attempt: 1,
          end: { kind: 'completed', finish: 'stop', usage },
          endedAtMs: 2_000,
        });
        const [found] = store.recent(1);
        assert.equal(found?.endedAtMs, 2_000);
        assert.deepEqual(found?.end, {
          kind: 'completed',
          reason: 'stop',
          message: '',
          promptTokens: 3,
          completionTokens: 4,
        });
      }
    });

    it('keeps why a run failed, and who cancelled one', () => {
      const failure = {
        kind: 'unavailable',
        code: 'upstream.cut',
        message: 'cut',
        details: {},
        retryable: true,
      } as const;
      store.startRun(runStart('a'));
      store.completeRun({ runId: 'a', attempt: 1, end: { kind: 'failed', failure }, endedAtMs: 1 });
      store.startRun(runStart('b'));
      store.completeRun({ runId: 'b', attempt: 1, end: { kind: 'cancelled', by: 'operator' }, endedAtMs: 1 });
      const [b, a] = store.recent(2);
      assert.deepEqual(
        [a?.end?.reason, a?.end?.message, b?.end?.reason],
        ['upstream.cut', 'cut', 'operator'],
      );
    });

    it('keeps the attempts of a run apart', () => {
      store.startRun(runStart('a'));
      store.startRun({ ...runStart('a'), attempt: 2 });
      store.completeRun({ runId: 'a', attempt: 2, end: { kind: 'completed', finish: 'stop' }, endedAtMs: 1 });
      const [second, first] = store.recent(10);
      assert.deepEqual([first?.attempt, first?.end, second?.end?.kind], [1, undefined, 'completed']);
    });

    it('gives the newest first, and no more than asked for', () => {
      for (const runId of ['a', 'b', 'c']) store.startRun(runStart(runId));
      assert.deepEqual(
        store.recent(2).map((run) => run.runId),
        ['c', 'b'],
      );
    });

    it('S2: knows the attempts that were started, and earlier ones, but no later one', () => {
      store.startRun({ ...runStart('a'), attempt: 2, runClass: 'detached' });
      store.startRun(runStart('b'));
      const known = [1, 2, 3].map((attempt) => store.has({ runId: 'a', attempt }));
      assert.deepEqual(known, [true, true, false]);
      assert.equal(store.has({ runId: 'b', attempt: 1 }), true);
      assert.equal(store.has({ runId: 'c', attempt: 1 }), false);
    });

    it('ignores the end of a run that never started', () => {
      store.completeRun({ runId: 'x', attempt: 1, end: { kind: 'completed', finish: 'stop' }, endedAtMs: 1 });
      assert.deepEqual(store.recent(10), []);
    });
  });
}

export function runStart(runId: string): RunStart {
  return {
    runId,
    attempt: 1,
    runClass: 'attached',
    adapter: 'mock',
    target: 'echo',
    door: 'openai',
    startedAtMs: 1_000,
  };
}
