import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnswerPart } from '../../dialects/answer-part.ts';
import { type BlockHead, BlockLine } from './block-line.ts';

/** What a sink saw: `<` opens, `>` closes. */
function play(parts: readonly AnswerPart[], finish = true): { seen: string[]; problem: string | undefined } {
  const seen: string[] = [];
  const line = new BlockLine({
    open: (head: BlockHead) => seen.push(`<${head.kind === 'tool-use' ? head.name : head.kind}`),
    add: (piece) => seen.push(piece),
    close: () => seen.push('>'),
  });
  let problem: string | undefined;
  for (const part of parts) problem ??= line.take(part);
  if (finish) line.finish();
  return { seen, problem };
}

const text = (value: string): AnswerPart => ({ kind: 'text', text: value });
const thought = (value: string): AnswerPart => ({ kind: 'reasoning', text: value });
const call = (index: number, name: string): AnswerPart => ({
  kind: 'tool-call',
  index,
  id: `call_${index}`,
  name,
});
const json = (index: number, value: string): AnswerPart => ({ kind: 'tool-arguments', index, json: value });

test('a block ends when another kind begins', () => {
  const { seen } = play([thought('a'), thought('b'), text('c'), text('d'), thought('e')]);
  assert.deepEqual(seen, ['<thinking', 'a', 'b', '>', '<text', 'c', 'd', '>', '<thinking', 'e', '>']);
});

test('calls that come one after the other are streamed as they come (B2)', () => {
  const { seen } = play([call(0, 'x'), json(0, '{"a":'), json(0, '1}'), call(1, 'y'), json(1, '{')], false);
  assert.deepEqual(seen, ['<x', '{"a":', '1}', '>', '<y', '{']);
});

test('calls that come side by side go out one after the other, each whole (B1)', () => {
  const parts = [
    call(0, 'x'),
    call(1, 'y'),
    json(1, '{"b"'),
    json(0, '{"a":'),
    json(1, ':2}'),
    json(0, '1}'),
  ];
  assert.deepEqual(play(parts, false).seen, ['<x', '{"a":', '1}', '>', '<y', '{"b"', ':2}']);
  assert.deepEqual(play(parts).seen, ['<x', '{"a":', '1}', '>', '<y', '{"b"', ':2}', '>']);
});

test('a bracket in a text ends nothing', () => {
  const parts = [call(0, 'x'), json(0, '{"a":"}'), call(1, 'y'), json(1, '{}'), json(0, '\\"}"}')];
  assert.deepEqual(play(parts).seen, ['<x', '{"a":"}', '\\"}"}', '>', '<y', '{}', '>']);
});

test('calls without arguments, and with broken ones, come out at the end', () => {
  const { seen, problem } = play([call(0, 'x'), call(1, 'y'), json(1, '{"a":'), text('so')]);
  assert.deepEqual(seen, ['<x', '>', '<y', '{"a":', '>', '<text', 'so', '>']);
  assert.equal(problem, undefined);
});

test('what comes to a call after its end is a fault, not a loss; spaces are nothing', () => {
  const over = [call(0, 'x'), json(0, '{}'), call(1, 'y')];
  assert.match(play([...over, json(0, '{"a":1}')]).problem ?? '', /went on after its end/);
  assert.equal(play([...over, json(0, '\n')]).problem, undefined);
});

test('what waits is bounded', () => {
  const { problem } = play([call(0, 'x'), call(1, 'y'), json(1, 'x'.repeat(4 * 1024 * 1024 + 1))]);
  assert.match(problem ?? '', /too large/);
});
