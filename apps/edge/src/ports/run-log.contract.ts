import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LogBatch, LogEvent, RunLog } from './run-log.ts';
import { recordOf } from './run-records.contract.ts';
import type { RunRecords } from './run-records.ts';

export interface RunLogHarness extends AsyncDisposable {
  log: RunLog;
  records: RunRecords;
}

export function rawEvent(text: string): LogEvent {
  return { kind: 'raw', dialect: 'openai.chat', bytes: new TextEncoder().encode(text), more: false };
}

export const completedEvent: LogEvent = {
  kind: 'end',
  end: {
    kind: 'completed',
    finish: 'stop',
    usage: { promptTokens: 3, completionTokens: 4, estimated: false },
  },
};

export const attemptEvent: LogEvent = {
  kind: 'attempt',
  attempt: 1,
  node: 'gpu-1',
  adapter: 'vllm',
  target: 'Qwen/Qwen3-8B',
  route: 'least busy of 2',
  waitedMs: 12,
  candidates: [
    { node: 'gpu-1', adapter: 'vllm', target: 'Qwen/Qwen3-8B', verdict: 'chosen', running: 1, limit: 4 },
    { node: 'gpu-2', adapter: 'vllm', target: 'Qwen/Qwen3-8B', verdict: 'away', running: 0, limit: 0 },
  ],
};

export const attemptEndEvent: LogEvent = {
  kind: 'attempt-end',
  attempt: 1,
  failure: {
    kind: 'unavailable',
    code: 'upstream.refused',
    message: 'no',
    details: { node: 'gpu-1' },
    retryable: true,
  },
};

export const failedEvent: LogEvent = {
  kind: 'end',
  end: {
    kind: 'failed',
    failure: {
      kind: 'unavailable',
      code: 'upstream.status',
      message: 'said 500',
      details: {},
      retryable: true,
      upstream: { status: 500, body: new TextEncoder().encode('{"error":"secret"}') },
    },
  },
};

export function batchOf(over: Partial<LogBatch> = {}): LogBatch {
  return {
    runId: 'run_1',
    firstPos: 1,
    events: [rawEvent('one')],
    attempt: 1,
    lastSeq: 1,
    keepContent: true,
    ...over,
  };
}

/** Plain, so that views and buffers compare by what they hold. */
export function plain(events: readonly LogEvent[]): unknown {
  return JSON.parse(
    JSON.stringify(events, (_, value) =>
      value instanceof Uint8Array ? new TextDecoder().decode(value) : value,
    ),
  );
}

/** Every page from a pos on, until nothing comes. */
export async function readAll(log: RunLog, runId: string, afterPos = 0, limitBytes = 1_000_000) {
  const found: { pos: number; event: LogEvent }[] = [];
  for (let at = afterPos; ; ) {
    const page = await log.read({ runId, afterPos: at, limitBytes });
    assert.ok(page.firstPos > at, 'a page lies behind what was asked for');
    for (const [index, event] of page.events.entries()) found.push({ pos: page.firstPos + index, event });
    const last = found.at(-1)?.pos ?? at;
    if (page.events.length === 0) return found;
    at = last;
  }
}

/** What every `RunLog` keeps. */
export function runLogContract(name: string, setUp: () => Promise<RunLogHarness>): void {
  describe(`run log: ${name}`, () => {
    test('G3: every kind of event comes back as it was, numbered from 1', async () => {
      await using harness = await setUp();
      const events: LogEvent[] = [
        attemptEvent,
        rawEvent('data: {"é":1}\n\n'),
        { kind: 'raw', dialect: 'openai.raw', bytes: new Uint8Array([0, 255]), more: true },
        { kind: 'head', contentType: 'audio/mpeg' },
        { kind: 'text', text: 'hé' },
        { kind: 'usage', usage: { promptTokens: 1, completionTokens: 2, estimated: true } },
        attemptEndEvent,
        { kind: 'state', state: 'waiting' },
        failedEvent,
      ];
      harness.records.save(recordOf());
      harness.log.append(batchOf({ events, lastSeq: 4 }));
      const page = await harness.log.read({ runId: 'run_1', afterPos: 0, limitBytes: 1_000_000 });
      assert.equal(page.firstPos, 1);
      assert.deepEqual(plain(page.events), plain(events));
      assert.ok(page.events[1]?.kind === 'raw' && page.events[1].bytes instanceof Uint8Array);
    });

    test('G3: a read sees all that was appended before it, from any pos on', async () => {
      await using harness = await setUp();
      const { log, records } = harness;
      records.save(recordOf());
      for (let pos = 1; pos <= 30; pos += 3) {
        const events = [0, 1, 2].map((step) => rawEvent(`event ${pos + step}`));
        log.append(batchOf({ firstPos: pos, events, lastSeq: pos + 2 }));
        if (pos % 4 === 0) await records.flush();
      }
      for (let after = 0; after <= 30; after++) {
        const found = await readAll(log, 'run_1', after);
        assert.deepEqual(
          found.map(({ pos, event }) => [pos, event.kind === 'raw' && new TextDecoder().decode(event.bytes)]),
          Array.from({ length: 30 - after }, (_, i) => [after + i + 1, `event ${after + i + 1}`]),
        );
      }
    });

    test('a page has about as many bytes as were asked for, and one event at least', async () => {
      await using harness = await setUp();
      const { log } = harness;
      const events = Array.from({ length: 100 }, (_, i) => rawEvent(`${i}`.padEnd(1000, '.')));
      log.append(batchOf({ events, lastSeq: 100 }));
      const page = await log.read({ runId: 'run_1', afterPos: 10, limitBytes: 5000 });
      assert.equal(page.firstPos, 11);
      assert.ok(page.events.length >= 4 && page.events.length <= 6, `${page.events.length} events`);
      const one = await log.read({ runId: 'run_1', afterPos: 99, limitBytes: 1 });
      assert.deepEqual(plain(one.events), plain(events.slice(99)));
      assert.equal((await readAll(log, 'run_1', 0, 1)).length, 100);
    });

    test('after the last event, and of a run that nobody knows, there is nothing', async () => {
      await using harness = await setUp();
      harness.log.append(batchOf());
      for (const [runId, afterPos] of [
        ['run_1', 1],
        ['run_1', 70],
        ['run_none', 0],
      ] as const) {
        assert.deepEqual((await harness.log.read({ runId, afterPos, limitBytes: 100 })).events, []);
      }
    });

    test('runs do not see each other', async () => {
      await using harness = await setUp();
      const { log } = harness;
      for (let i = 1; i <= 5; i++) {
        for (const runId of ['run_1', 'run_2', 'run_3']) {
          log.append(batchOf({ runId, firstPos: i, events: [rawEvent(`${runId} ${i}`)], lastSeq: i }));
        }
      }
      const found = await readAll(log, 'run_2');
      assert.deepEqual(
        plain(found.map(({ event }) => event)),
        plain([1, 2, 3, 4, 5].map((i) => rawEvent(`run_2 ${i}`))),
      );
    });

    test('without content only the own events are kept, each at its pos; a page ends before a gap', async () => {
      await using harness = await setUp();
      const { log } = harness;
      const keepContent = false;
      log.append(batchOf({ events: [attemptEvent], attempt: 0, lastSeq: 0, keepContent }));
      log.append(batchOf({ firstPos: 2, events: [rawEvent('a'), rawEvent('b')], lastSeq: 2, keepContent }));
      log.append(
        batchOf({ firstPos: 4, events: [{ kind: 'state', state: 'stopping' }, failedEvent], keepContent }),
      );
      const first = await log.read({ runId: 'run_1', afterPos: 0, limitBytes: 100_000 });
      assert.deepEqual([first.firstPos, first.events.length], [1, 1]);
      const second = await log.read({ runId: 'run_1', afterPos: 1, limitBytes: 100_000 });
      assert.deepEqual([second.firstPos, second.events.map((each) => each.kind)], [4, ['state', 'end']]);
      const [, end] = second.events;
      assert.ok(end?.kind === 'end' && end.end.kind === 'failed');
      assert.equal(end.end.failure.upstream, undefined, 'what the upstream answered is content');
    });

    test('G2: committed is called once for each batch, in their order', async () => {
      await using harness = await setUp();
      const { log, records } = harness;
      const told: string[] = [];
      records.save(recordOf());
      const all = new Promise<void>((resolve) => {
        for (let i = 1; i <= 20; i++) {
          for (const runId of ['run_1', 'run_2']) {
            const committed = () => {
              told.push(`${runId} ${i}`);
              if (told.length === 40) resolve();
            };
            log.append(batchOf({ runId, firstPos: i, lastSeq: i, committed }));
          }
        }
      });
      assert.equal(told.length, 0, 'never within the call');
      await all;
      await records.flush();
      for (const runId of ['run_1', 'run_2']) {
        const own = told.filter((each) => each.startsWith(runId));
        assert.deepEqual(
          own,
          Array.from({ length: 20 }, (_, i) => `${runId} ${i + 1}`),
        );
      }
      assert.equal((await readAll(log, 'run_2')).length, 20);
    });
  });
}
