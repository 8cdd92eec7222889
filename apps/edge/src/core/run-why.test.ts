import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OwnEvent } from '../ports/run-log.ts';
import { explainRun, type OwnAt } from './run-why.ts';

const failure = {
  kind: 'unavailable',
  code: 'node.lost',
  message: 'm',
  details: {},
  retryable: true,
} as const;

function attempt(number: number, node: string): OwnEvent {
  const candidates = [
    { node, adapter: 'mock', target: 'echo', verdict: 'chosen', running: 0, limit: 0 } as const,
  ];
  return {
    kind: 'attempt',
    attempt: number,
    node,
    adapter: 'mock',
    target: 'echo',
    route: `to ${node}`,
    waitedMs: 5,
    candidates,
  };
}

function explain(lastPos: number, ...own: (readonly [number, OwnEvent])[]) {
  const last = own.at(-1)?.[1];
  return explainRun(
    { lastPos, end: last?.kind === 'end' ? last.end : undefined },
    own.map(([pos, event]): OwnAt => ({ pos, event })),
  );
}

test('each attempt says where it went, how many events came of it, and why it was over', () => {
  const why = explain(
    20,
    [1, attempt(1, 'a')],
    [4, { kind: 'attempt-end', attempt: 1, failure }],
    [5, attempt(2, 'b')],
    [20, { kind: 'end', end: { kind: 'completed', finish: 'stop' } }],
  );
  assert.deepEqual(
    why.attempts.map((each) => [each.attempt, each.node, each.route, each.pos, each.events, each.failure]),
    [
      [1, 'a', 'to a', 1, 2, failure],
      [2, 'b', 'to b', 5, 14, undefined],
    ],
  );
  assert.deepEqual(why.changes, []);
});

test('changes of state are no events of an attempt', () => {
  const why = explain(
    9,
    [1, attempt(1, 'a')],
    [3, { kind: 'state', state: 'unknown' }],
    [4, { kind: 'state', state: 'running' }],
    [9, { kind: 'end', end: { kind: 'cancelled', by: 'operator' } }],
  );
  assert.equal(why.attempts[0]?.events, 5);
  assert.deepEqual(why.changes, [
    { pos: 3, state: 'unknown' },
    { pos: 4, state: 'running' },
  ]);
});

test('of a run that goes on everything until now is counted', () => {
  assert.equal(explain(7, [1, attempt(1, 'a')]).attempts[0]?.events, 6);
  const changed = explain(7, [1, attempt(1, 'a')], [5, { kind: 'state', state: 'unknown' }]);
  assert.equal(changed.attempts[0]?.events, 5);
  const newer = explain(1, [1, attempt(1, 'a')], [5, { kind: 'state', state: 'unknown' }]);
  assert.equal(newer.attempts[0]?.events, 3, 'the log may be newer than the record');
});

test('of a log that was not read to its end the record says where that is', () => {
  const end = { kind: 'completed', finish: 'stop' } as const;
  const why = explainRun({ lastPos: 100, end }, [{ pos: 1, event: attempt(1, 'a') }]);
  assert.equal(why.attempts[0]?.events, 98);
});

test('a run that was never dispatched has no attempts', () => {
  assert.deepEqual(explain(0), { attempts: [], changes: [] });
  const end: OwnEvent = { kind: 'end', end: { kind: 'cancelled', by: 'caller' } };
  assert.deepEqual(explain(1, [1, end]), { attempts: [], changes: [] });
});
