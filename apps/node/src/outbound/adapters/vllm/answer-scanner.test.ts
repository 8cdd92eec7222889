import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnswerScanner } from './answer-scanner.ts';
import { isJson } from './json-scan.ts';

const scanner = new AnswerScanner();

function scan(text: string) {
  const bytes = Buffer.from(text);
  const isObject = scanner.scan(bytes, 0, bytes.length);
  const part = (start: number, end: number) =>
    start === -1 ? undefined : bytes.subarray(start, end).toString();
  return {
    isObject,
    choices: scanner.choices,
    finishes: scanner.finishes,
    finish: part(scanner.finishAt, scanner.finishEnd),
    usage: part(scanner.usageAt, scanner.usageEnd),
    error: part(scanner.errorAt, scanner.errorEnd),
  };
}

describe('answer scanner', () => {
  it('finds what stands at the top and in the choices', () => {
    const found = scan(
      ' {"choices":[{"finish_reason":"stop"},{"delta":{"finish_reason":"x"},"finish_reason" : "length"}],"usage":{"a":1}} ',
    );
    assert.deepEqual(found, {
      isObject: true,
      choices: 2,
      finishes: 2,
      finish: '"length"',
      usage: '{"a":1}',
      error: undefined,
    });
  });

  it('finds nothing deeper down, or in texts', () => {
    const found = scan(
      '{"x":{"usage":{},"error":1,"choices":[{"finish_reason":"a"}]},"y":"\\"error\\":{}","choices":[{"delta":{"usage":{}}}]}',
    );
    assert.deepEqual([found.finishes, found.usage, found.error, found.choices], [0, undefined, undefined, 1]);
  });

  it('forgets the chunk before', () => {
    scan('{"choices":[{"finish_reason":"stop"}],"usage":{"a":1},"error":{"b":2},"object":"error"}');
    assert.equal(scanner.isErrorObject, true);
    assert.deepEqual(scan('{}'), {
      isObject: true,
      choices: -1,
      finishes: 0,
      finish: undefined,
      usage: undefined,
      error: undefined,
    });
    assert.equal(scanner.isErrorObject, false);
  });

  it('agrees with the JSON scanner about every prefix and every one-byte change of a chunk', () => {
    const chunk =
      '{"id":"c","choices":[{"index":0,"delta":{"content":"a\\"b"},"finish_reason":null},7],"usage":{"a":[1]}}';
    for (let length = 0; length <= chunk.length; length++) {
      const prefix = chunk.slice(0, length);
      assert.equal(scan(prefix).isObject, isJson(Buffer.from(prefix)), prefix);
      for (const other of ['"', '\\', '{', ']', ',', ':', '0', 'x', ' ']) {
        const changed = prefix + other + chunk.slice(length + 1);
        const expected = isJson(Buffer.from(changed)) && changed.trim().startsWith('{');
        assert.equal(scan(changed).isObject, expected, changed);
      }
    }
  });
});
