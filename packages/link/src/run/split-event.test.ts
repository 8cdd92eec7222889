import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, type RunEvent, RunEventSchema } from '@iop/wire';
import { textEvent } from '../testing/events.ts';
import { isOversized, splitEvent } from './split-event.ts';

const large = 200_000;
const bytes = Uint8Array.from({ length: large }, (_, at) => at % 256);
const json = 'ä'.repeat(large);

function event(kind: object): RunEvent {
  return create(RunEventSchema, { kind } as never);
}

/** The text of a piece, whatever its kind. */
function textOf({ kind }: RunEvent): string {
  if (kind.case === 'text' || kind.case === 'reasoning') return kind.value.text;
  return kind.case === 'toolCall' ? kind.value.argumentsJson : '';
}

const emojiAtTheCut = `${'x'.repeat(15 * 1024 - 1)}🙂${json}`;

const splittable: [string, RunEvent][] = [
  ['text', textEvent(emojiAtTheCut)],
  ['reasoning', event({ case: 'reasoning', value: { text: json } })],
  ['toolCall', event({ case: 'toolCall', value: { index: 2, id: 'c', name: 'f', argumentsJson: json } })],
];

for (const [kind, whole] of splittable) {
  test(`a large ${kind} is split between code points and is whole when put together`, () => {
    assert.equal(isOversized(whole), true);
    const pieces = splitEvent(whole);
    assert.ok(pieces.length > 1 && pieces.every((piece) => !isOversized(piece)));
    assert.equal(pieces.map(textOf).join(''), textOf(whole));
    for (const piece of pieces) assert.ok(textOf(piece).isWellFormed());
  });
}

test('large logs and artifacts are split, and only the last piece of an artifact is last', () => {
  const logs = splitEvent(event({ case: 'log', value: { stream: 1, data: bytes } }));
  const artifacts = splitEvent(event({ case: 'artifact', value: { id: 'a', data: bytes, last: true } }));
  for (const pieces of [logs, artifacts]) {
    const data = pieces.map((piece) => (piece.kind.value as { data: Uint8Array }).data);
    assert.ok(Buffer.concat(data).equals(bytes));
  }
  assert.deepEqual(
    artifacts.map((piece) => piece.kind.case === 'artifact' && piece.kind.value.last),
    [false, false, false, true],
  );
});

test('a kind that has no pieces is refused with words when it does not fit', () => {
  assert.throws(() => splitEvent(event({ case: 'plan', value: { entriesJson: json } })), {
    code: 'event.too-large',
  });
});

test('small events are left alone', () => {
  assert.equal(isOversized(textEvent('hi')), false);
  assert.equal(isOversized(event({ case: 'end', value: {} })), false);
});
