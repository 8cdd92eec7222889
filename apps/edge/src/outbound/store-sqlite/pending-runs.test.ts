import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  attemptEvent,
  batchOf,
  completedEvent,
  failedEvent,
  rawEvent,
} from '../../ports/run-log.contract.ts';
import { endedRecord, recordOf } from '../../ports/run-records.contract.ts';
import { PendingRuns } from './pending-runs.ts';

const big = rawEvent('x'.repeat(1000));
const roomy = { runs: 100, bytes: 1_000_000 };
const everything = { runs: 1000, bytes: 1_000_000 };

test('W1: what is given of one run is taken out together, the oldest run first', () => {
  const pending = new PendingRuns(roomy);
  for (const runId of ['run_1', 'run_2', 'run_1']) {
    pending.change(runId, (run) => run.append(batchOf({ runId, firstPos: run.lastPos + 1 })));
  }
  pending.change('run_1', (run) => {
    run.record = endedRecord();
  });
  const [first, second] = pending.take('all', everything);
  assert.deepEqual([first?.runId, first?.pieces.length, first?.record?.state], ['run_1', 2, 'completed']);
  assert.deepEqual([second?.runId, pending.size], ['run_2', 0]);
});

test('W2: what could not be written comes back in front of what has come since', () => {
  const pending = new PendingRuns(roomy);
  const told: number[] = [];
  const append = (firstPos: number) =>
    pending.change('run_1', (run) =>
      run.append(batchOf({ firstPos, lastSeq: firstPos, committed: () => told.push(firstPos) })),
    );
  append(1);
  pending.change('run_1', (run) => {
    run.record = recordOf();
  });
  pending.change('run_0', (run) => run.append(batchOf({ runId: 'run_0' })));
  const taken = pending.take('all', everything);
  assert.equal(taken[0]?.isNewLog, true);
  append(2);
  pending.putBack(taken);
  const [run] = pending.take('all', everything);
  assert.deepEqual([run?.runId, run?.lastPos, run?.lastSeq, run?.record?.state], ['run_1', 2, 2, 'starting']);
  assert.deepEqual(
    run?.pieces.map(({ firstPos }) => firstPos),
    [1, 2],
  );
  assert.equal(run?.isNewLog, false, 'it may have been written after all');
  for (const committed of run?.committed ?? []) committed();
  assert.deepEqual(told, [1, 2]);
});

test('W2: beyond the bound content that nobody waits for goes; what is waited for and the Edge’s own stays', () => {
  const pending = new PendingRuns({ runs: 100, bytes: 3000 });
  const append = (firstPos: number, over: object) =>
    pending.change('run_1', (run) => run.append(batchOf({ firstPos, ...over })));
  append(1, { events: [attemptEvent, big] });
  append(3, { events: [big], committed: () => {} });
  append(4, { events: [big] });
  append(5, { events: [big, completedEvent] });
  const [run] = pending.take('all', everything);
  assert.equal(pending.lostEvents, 3);
  assert.deepEqual(
    run?.pieces.map(({ firstPos, events }) => [firstPos, events.map(({ kind }) => kind)]),
    [
      [1, ['attempt']],
      [3, ['raw']],
      [6, ['end']],
    ],
  );
});

test('more runs than may wait: the oldest that nobody waits for is dropped and counted', () => {
  const pending = new PendingRuns({ runs: 2, bytes: 1000 });
  const wait = { resolve() {}, reject() {} };
  pending.change('run_1', (run) => run.waiters.push(wait));
  for (const runId of ['run_2', 'run_3', 'run_4']) {
    pending.change(runId, (run) => {
      run.record = recordOf({ runId });
    });
  }
  assert.equal(pending.droppedRecords, 2);
  assert.deepEqual(
    pending.take('all', everything).map(({ runId }) => runId),
    ['run_1', 'run_4'],
  );
});

test('without content the own events are kept, each at its pos, and no answer of an upstream', () => {
  const pending = new PendingRuns(roomy);
  const events = [big, { kind: 'state', state: 'waiting' } as const, big, failedEvent];
  pending.change('run_1', (run) => run.append(batchOf({ events, keepContent: false, lastSeq: 4 })));
  const [run] = pending.take('all', everything);
  assert.deepEqual([run?.lastPos, run?.lastSeq, run?.ended], [4, 4, true]);
  assert.deepEqual(
    run?.pieces.map(({ firstPos }) => firstPos),
    [2, 4],
  );
  const [end] = run?.pieces.at(-1)?.events ?? [];
  assert.ok(end?.kind === 'end' && end.end.kind === 'failed' && end.end.failure.upstream === undefined);
});

test('only those that somebody waits for can be taken alone; the others keep their place', () => {
  const pending = new PendingRuns(roomy);
  for (const runId of ['run_1', 'run_2']) pending.change(runId, (run) => run.append(batchOf({ runId })));
  pending.change('run_2', (run) => run.waiters.push({ resolve() {}, reject() {} }));
  assert.equal(pending.hasWaited, true);
  const taken = pending.take('waited-for', everything);
  assert.deepEqual(
    taken.map(({ runId }) => runId),
    ['run_2'],
  );
  assert.equal(pending.hasWaited, false);
  pending.putBack(taken);
  assert.equal(pending.oldestRank, 1);
});
