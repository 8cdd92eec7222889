import assert from 'node:assert/strict';
import { test } from 'node:test';
import { locateJsonError } from './json-error.ts';

function locate(text: string) {
  try {
    JSON.parse(text);
  } catch (error) {
    return locateJsonError(text, (error as Error).message);
  }
  throw new Error(`this is JSON: ${text}`);
}

const places: readonly (readonly [text: string, position: number, reason: RegExp])[] = [
  ['', 0, /ends too early/],
  ['{"a":1,}', 7, /property name/],
  ['{"a":tru}', 8, /unexpected "}"/],
  ['abc', 0, /unexpected "a"/],
  ['\ufeff{}', 0, /unexpected/],
  ['[1,2', 4, /',' or ']'/],
  ['[1,]', 3, /unexpected "]"/],
  ['[,1]', 1, /unexpected ","/],
  ['{"a":}', 5, /unexpected "}"/],
  ['{"a":-1.5e3,"b":[],"c":{},"d":x}', 30, /unexpected "x"/],
  ['{"a":["q\\"]", {"b": NaN}]}', 20, /unexpected "N"/],
  ['{"a":"\\x"}', 7, /escaped character/],
  ['{} x', 3, /after the end/],
  ['[[[]],fal', 9, /ends too early/],
];

for (const [text, position, reason] of places) {
  test(`the fault in ${JSON.stringify(text)} is found at ${position}`, () => {
    const error = locate(text);
    assert.equal(error.position, position);
    assert.match(error.reason, reason);
  });
}

test('line and column count from one', () => {
  const error = locate('{\n  "a": 1,\n  "b": oops\n}');
  assert.deepEqual([error.line, error.column], [3, 8]);
});

test("the caller's content is not quoted", () => {
  assert.doesNotMatch(locate('{"secret":"hunter2", "b": oops}').reason, /hunter2/);
  assert.doesNotMatch(locate('{"secret":"hunter2", "b" 1}').reason, /hunter2/);
});

test('a fault far into a large text is found without a long walk', () => {
  const text = `{"a":"${'x'.repeat(3_000_000)}","b":oops}`;
  assert.equal(locate(text).position, 3_000_012);
  assert.equal(locate(`[${'1,'.repeat(3_000_000)}oops]`).position, 0);
});
