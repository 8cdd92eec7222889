import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuntimeEvent, RuntimeEventKind } from '@iop/runtime';
import { create, decodeMessage, encodeMessage, RunEventsSchema } from '@iop/wire';
import { toRuntimeEvent } from './from-wire.ts';
import { toRunEvent } from './to-wire.ts';

const bytes = new Uint8Array([0, 1, 255]);

/** One of each kind: a new kind does not compile until it is here. */
const examples: { [K in RuntimeEventKind]: Extract<RuntimeEvent, { kind: K }> } = {
  raw: { kind: 'raw', dialect: 'openai.chat', bytes, more: true },
  head: { kind: 'head', contentType: 'audio/mpeg' },
  text: { kind: 'text', text: 'hé' },
  reasoning: { kind: 'reasoning', text: 'so' },
  'tool-call': { kind: 'tool-call', index: 2, id: 'c', name: 'f', argumentsJson: '{}' },
  'tool-activity': { kind: 'tool-activity', id: 'a', title: 't', status: 's', detailJson: '{}' },
  plan: { kind: 'plan', entriesJson: '[]' },
  'permission-request': { kind: 'permission-request', id: 'p', title: 't', optionsJson: '[]' },
  step: { kind: 'step', id: 's', name: 'n', status: 'ok' },
  log: { kind: 'log', stream: 'stderr', bytes },
  artifact: { kind: 'artifact', id: 'a', name: 'n', mediaType: 'text/plain', bytes, last: true },
  usage: { kind: 'usage', usage: { promptTokens: 1, completionTokens: 2, estimated: true } },
  progress: { kind: 'progress', message: 'loading', fraction: 0.5 },
};

for (const event of Object.values(examples)) {
  test(`a ${event.kind} event is the same after it has crossed the wire`, () => {
    const batch = create(RunEventsSchema, {
      runId: 'r',
      attempt: 1,
      firstSeq: 1,
      events: [toRunEvent(event)],
    });
    const message = decodeMessage(encodeMessage({ case: 'runEvents', value: batch }));
    assert.ok(message.case === 'runEvents');
    const [back] = message.value.events;
    assert.ok(back !== undefined);
    assert.deepEqual(toRuntimeEvent(back), event);
  });
}

test('progress without a fraction stays without one', () => {
  const event = { kind: 'progress', message: 'm' } as const;
  assert.deepEqual(toRuntimeEvent(toRunEvent(event)), event);
});
