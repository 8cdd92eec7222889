import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NumberArrayCutter } from './number-array-cutter.ts';

function cut(chunks: readonly Uint8Array[], maxHeldBytes = 1000) {
  const taken: string[] = [];
  const take = (numbers: Uint8Array) => taken.push(Buffer.from(numbers).toString());
  const cutter = new NumberArrayCutter({ take, maxHeldBytes });
  const fits = chunks.map((chunk) => cutter.push(chunk));
  return { taken, fits, rest: cutter.rest().toString(), count: cutter.count };
}

describe('number array cutter', () => {
  it('N1, N2: takes the same arrays wherever the text is cut', () => {
    const text = Buffer.from('{"a\\"[1":[[0.5,-1e-7],[ -2 ], [],["[3]",{"b":[4]}]],"c":[[[7,8]]]}');
    for (let at = 0; at <= text.length; at++) {
      for (let next = at; next <= text.length; next++) {
        const found = cut([text.subarray(0, at), text.subarray(at, next), text.subarray(next)]);
        assert.deepEqual(found.taken, ['0.5,-1e-7', '-2 ', '4', '7,8'], `cut at ${at} and ${next}`);
        assert.equal(found.rest, '{"a\\"[1":[[0],[ 1], [],["[3]",{"b":[2]}]],"c":[[[3]]]}');
        assert.equal(found.count, 4);
      }
    }
  });

  it('leaves what was cut inside of an array invalid', () => {
    const { taken, rest } = cut([Buffer.from('{"a":[[1,2],[3,')]);
    assert.deepEqual([taken, rest], [['1,2'], '{"a":[[0],[']);
  });

  it('says when more is held than allowed, be it numbers or not', () => {
    assert.deepEqual(cut([Buffer.from('{"a":[1111'), Buffer.from('1')], 10).fits, [true, false]);
    assert.deepEqual(cut([Buffer.from('{"aaaaaaa'), Buffer.from('aa')], 10).fits, [true, false]);
    assert.deepEqual(cut([Buffer.from('[[1,1,1,1,1],[1,1,1,1,1],[2]]')], 10).fits, [true]);
  });
});
