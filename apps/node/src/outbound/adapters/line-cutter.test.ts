import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LineCutter } from './line-cutter.ts';

function cut(chunks: readonly Uint8Array[], maxLineBytes = 1000) {
  const lines: string[] = [];
  const cutter = new LineCutter((bytes, start, end) => {
    lines.push(Buffer.from(bytes.subarray(start, end)).toString());
  }, maxLineBytes);
  const fits = chunks.map((chunk) => cutter.push(chunk));
  return { lines, fits, rest: Buffer.from(cutter.rest()).toString() };
}

describe('line cutter', () => {
  it('C1: gives the same lines wherever the stream is cut', () => {
    const stream = Buffer.from('{"a":"é"}\n\n{"b":2}\r\nhalf');
    const whole = ['{"a":"é"}', '', '{"b":2}\r'];
    for (let at = 0; at <= stream.length; at++) {
      for (let next = at; next <= stream.length; next++) {
        const { lines, rest } = cut([
          stream.subarray(0, at),
          stream.subarray(at, next),
          stream.subarray(next),
        ]);
        assert.deepEqual([lines, rest], [whole, 'half'], `cut at ${at} and ${next}`);
      }
    }
  });

  it('copies no line that lies in one chunk', () => {
    const chunk = Buffer.from('a\nb\n');
    new LineCutter((bytes) => assert.equal(bytes, chunk), 10).push(chunk);
  });

  it('C2: refuses a line that is longer than allowed, whole or not', () => {
    assert.deepEqual(cut([Buffer.from('12345')], 5).fits, [true]);
    assert.deepEqual(cut([Buffer.from('12345'), Buffer.from('6')], 5).fits, [true, false]);
    const { lines, fits } = cut([Buffer.from('1\n123456\n2\n')], 5);
    assert.deepEqual([lines, fits], [['1'], [false]]);
  });
});
