import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isJson, skipValue } from './json-scan.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const whole = [
  '{}',
  '[]',
  ' { "a" : [ 1 , -2.5e+3 , true , false , null , "x\\u00e9\\n\\"" ] } ',
  '0',
  '-0.1E5',
  '"ü€😀"',
  '{"a":{"b":{"c":[[[]]]}}}',
  '""',
];
const broken = [
  '',
  ' ',
  '{',
  '}',
  '[1,]',
  '{"a":1,}',
  '{a:1}',
  "{'a':1}",
  '{"a" 1}',
  '{"a":}',
  '01',
  '-',
  '1.',
  '1e',
  '.5',
  '+1',
  'tru',
  'nulll',
  '"a',
  '"\\x"',
  '"\\u12g4"',
  '"a\nb"',
  '{} {}',
  '[1 2]',
  'NaN',
];

describe('JSON scanner', () => {
  for (const text of [...whole, ...broken]) {
    it(`agrees with JSON.parse about ${JSON.stringify(text)}`, () => {
      assert.equal(isJson(bytes(text)), parses(text));
    });
  }

  it('agrees with JSON.parse about every prefix and every one-byte change of a chunk', () => {
    const chunk =
      '{"id":"c-1","n":[1,2.5e-3],"choices":[{"delta":{"content":"a\\"b"},"finish_reason":null}]}';
    for (let length = 0; length < chunk.length; length++) {
      const prefix = chunk.slice(0, length);
      assert.equal(isJson(bytes(prefix)), parses(prefix), prefix);
      for (const other of ['"', '\\', '{', ']', ',', ':', '0', 'x', ' ', '\u0001']) {
        const changed = prefix + other + chunk.slice(length + 1);
        assert.equal(isJson(bytes(changed)), parses(changed), changed);
      }
    }
  });

  it('refuses nesting that would exhaust the stack, and takes what is just allowed', () => {
    assert.equal(isJson(bytes('['.repeat(500) + ']'.repeat(500))), true);
    assert.equal(isJson(bytes('['.repeat(501) + ']'.repeat(501))), false);
    assert.equal(isJson(bytes('['.repeat(1_000_000))), false);
  });

  it('stays inside the range it was given', () => {
    const text = bytes('xx{"a":1}yy');
    assert.equal(skipValue(text, 2, 9), 9);
    assert.equal(isJson(text, 2, 9), true);
    assert.equal(isJson(text, 2, 8), false);
  });
});
