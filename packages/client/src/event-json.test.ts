import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AttemptEventSchema,
  CandidateSchema,
  create,
  RawEventSchema,
  RunEventSchema,
  RunState,
  StateEventSchema,
  ToolCallEventSchema,
  UsageEventSchema,
  UsageSchema,
} from '@iop/wire';
import { stateOf, toEventJson } from './event-json.ts';

test('an event becomes its kind and its fields, bytes become text', () => {
  const raw = create(RawEventSchema, {
    dialect: 'openai.chat',
    data: new TextEncoder().encode('data: ü\n\n'),
  });
  assert.deepEqual(toEventJson(create(RunEventSchema, { kind: { case: 'raw', value: raw } })), {
    kind: 'raw',
    dialect: 'openai.chat',
    data: 'data: ü\n\n',
    more: false,
  });
  const call = create(ToolCallEventSchema, { index: 1, id: 'c', name: 'f', argumentsJson: '{}' });
  assert.deepEqual(toEventJson(create(RunEventSchema, { kind: { case: 'toolCall', value: call } })), {
    kind: 'tool-call',
    index: 1,
    id: 'c',
    name: 'f',
    argumentsJson: '{}',
  });
});

test('what is no text, no field or not known is still JSON', () => {
  const raw = create(RawEventSchema, { data: new Uint8Array([255]) });
  assert.deepEqual(toEventJson(create(RunEventSchema, { kind: { case: 'raw', value: raw } })).data, {
    base64: '/w==',
  });
  const usage = create(UsageEventSchema, { usage: create(UsageSchema, { promptTokens: 3 }) });
  assert.deepEqual(toEventJson(create(RunEventSchema, { kind: { case: 'usage', value: usage } })), {
    kind: 'usage',
    usage: { promptTokens: 3, completionTokens: 0, estimated: false },
  });
  assert.deepEqual(toEventJson(create(RunEventSchema)), { kind: 'unknown' });
});

test('what the Edge says of a run is told in its own words', () => {
  const state = create(StateEventSchema, { state: RunState.UNKNOWN });
  const changed = create(RunEventSchema, { kind: { case: 'state', value: state } });
  assert.deepEqual(toEventJson(changed), { kind: 'state', state: 'unknown' });
  assert.equal(stateOf(changed), 'unknown');
  const candidates = [create(CandidateSchema, { node: 'a', verdict: 'chosen' })];
  const attempt = create(AttemptEventSchema, { attempt: 1, node: 'a', candidates });
  const json = toEventJson(create(RunEventSchema, { kind: { case: 'attempt', value: attempt } }));
  assert.deepEqual(json.candidates, [
    { node: 'a', adapter: '', target: '', verdict: 'chosen', running: 0, limit: 0 },
  ]);
});
