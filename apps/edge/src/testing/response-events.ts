import assert from 'node:assert/strict';

export interface SeenEvent {
  type: string;
  sequence_number: number;
  [field: string]: unknown;
}

/** The events of a response stream; their names say what their data says. */
export function readResponseEvents(text: string): SeenEvent[] {
  const blocks = text.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'));
  return blocks.map((block) => {
    const [, name, data] = /^event: (.+)\ndata: (.+)$/.exec(block) ?? [];
    assert.ok(data !== undefined, `no event: ${block}`);
    const event = JSON.parse(data) as SeenEvent;
    assert.equal(event.type, name);
    return event;
  });
}
