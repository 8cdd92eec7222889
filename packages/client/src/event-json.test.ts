import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  create,
  RawEventSchema,
  RunEventSchema,
  ToolCallEventSchema,
  UsageEventSchema,
  UsageSchema,
} from '@iop/wire';
import { toEventJson } from './event-json.ts';

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
