import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { cancelCauses, finishReasons, IopError, type RunEnd, runStates } from '@iop/domain';
import { failureToError, fromFailure, maxUpstreamBodyBytes, toFailed, toFailure } from './failure.ts';
import { EndEventSchema, FailureSchema, RunState } from './gen/iop/wire/v1/run_pb.ts';
import { fromCancelCause, fromEndEvent, toEndEvent } from './run-end.ts';
import { fromWireRunState, toWireRunState } from './run-state.ts';

const usage = { promptTokens: 3, completionTokens: 5, estimated: true };
const failure = {
  kind: 'unavailable',
  code: 'upstream.cut',
  message: 'cut',
  details: { at: '7' },
  retryable: true,
} as const;

const ends: RunEnd[] = [
  ...finishReasons.map((finish) => ({ kind: 'completed' as const, finish, usage })),
  ...cancelCauses.map((by) => ({ kind: 'cancelled' as const, by })),
  { kind: 'failed', failure },
  {
    kind: 'failed',
    failure: { ...failure, upstream: { status: 429, body: Uint8Array.of(1), retryAfterMs: 5 } },
    usage,
  },
  { kind: 'failed', failure: { ...failure, upstream: { status: 500, body: new Uint8Array() } } },
];

test('every end of a run crosses unchanged', () => {
  for (const end of ends) assert.deepEqual(fromEndEvent(toEndEvent(end)), end);
});

test('an end that this version does not know is a failure, never a completed run', () => {
  const end = fromEndEvent(create(EndEventSchema));
  assert.equal(end.kind, 'failed');
});

test('what this version does not know gets the nearest word that claims nothing', () => {
  const end = toEndEvent({ kind: 'completed', finish: 'stop' });
  if (end.end.case === 'completed') end.end.value.finishReason = 'future';
  assert.deepEqual(fromEndEvent(end), { kind: 'completed', finish: 'other' });
  assert.equal(fromCancelCause('future'), 'operator');
  assert.equal(fromFailure(create(FailureSchema, { kind: 'future', code: 'a.b' })).kind, 'internal');
  assert.equal(fromWireRunState(77), 'unknown');
  assert.equal(fromWireRunState(RunState.UNSPECIFIED), 'unknown');
});

test('every state crosses unchanged', () => {
  for (const state of runStates) assert.equal(fromWireRunState(toWireRunState(state)), state);
});

test('an error crosses with kind, code, message and details, and without its cause', () => {
  const error = new IopError({
    kind: 'conflict',
    code: 'a.b',
    message: 'said',
    details: { port: 7400, open: true },
    cause: new Error('secret'),
  });
  const back = failureToError(toFailure(error));
  assert.deepEqual([back.kind, back.code, back.message], ['conflict', 'a.b', 'said']);
  assert.deepEqual(back.details, { port: '7400', open: 'true' });
  assert.equal(back.cause, undefined);
  assert.equal(failureToError(undefined).kind, 'internal');
});

test("an upstream's own answer is cut so that it fits a frame", () => {
  const failed = toFailed({ ...failure, upstream: { status: 500, body: new Uint8Array(200_000) } });
  assert.equal(failed.upstream?.body.length, maxUpstreamBodyBytes);
});
