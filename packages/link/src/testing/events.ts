import { create, type RunEvent, RunEventSchema, toEndEvent } from '@iop/wire';

export function rawEvent(data: Uint8Array | string, more = false): RunEvent {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  return create(RunEventSchema, {
    kind: { case: 'raw', value: { dialect: 'openai.chat', data: bytes, more } },
  });
}

export function textEvent(text: string): RunEvent {
  return create(RunEventSchema, { kind: { case: 'text', value: { text } } });
}

export function endEvent(): RunEvent {
  return create(RunEventSchema, {
    kind: { case: 'end', value: toEndEvent({ kind: 'completed', finish: 'stop' }) },
  });
}
