import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RunState } from '@iop/wire';
import type { LogEvent } from '../ports/run-log.ts';
import { WatchedState } from './watched-state.ts';

const text: LogEvent = { kind: 'text', text: 'x' };

function attempt(node: string): LogEvent {
  const place = { node, adapter: 'mock', target: 'echo', route: '', waitedMs: 0, candidates: [] };
  return { kind: 'attempt', attempt: 1, ...place };
}

test('the state and the Node follow from the events of a log', () => {
  const watched = new WatchedState(0);
  const after = (event: LogEvent) => {
    watched.note([event]);
    return [watched.state, watched.node];
  };
  assert.deepEqual([watched.state, watched.node], [RunState.QUEUED, '']);
  assert.deepEqual(after(attempt('a')), [RunState.STARTING, 'a']);
  assert.deepEqual(after({ kind: 'state', state: 'unknown' }), [RunState.UNKNOWN, 'a']);
  const failure = { kind: 'unavailable', code: 'c', message: 'm', details: {}, retryable: true } as const;
  assert.deepEqual(after({ kind: 'attempt-end', attempt: 1, failure }), [RunState.QUEUED, 'a']);
  assert.deepEqual(after(attempt('b')), [RunState.STARTING, 'b']);
  assert.deepEqual(after(text), [RunState.RUNNING, 'b']);
  assert.deepEqual(after({ kind: 'state', state: 'stopping' }), [RunState.STOPPING, 'b']);
  assert.deepEqual(after(text), [RunState.STOPPING, 'b'], 'content after the cancel changes nothing');
  assert.deepEqual(after({ kind: 'end', end: { kind: 'cancelled', by: 'operator' } }), [
    RunState.CANCELLED,
    'b',
  ]);
});

test('in the middle of a log nothing is claimed before it is told', () => {
  const watched = new WatchedState(7);
  assert.equal(watched.state, RunState.UNSPECIFIED);
  watched.note([text]);
  assert.equal(watched.state, RunState.RUNNING);
});
