import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toBase64Vector, toFloatVector } from '../http-upstream/embedding-body.ts';
import { EmbeddingConverter } from './embedding-converter.ts';

const vectors = [
  [0.5, -0.25, 1e-7],
  [0, 3.4028234663852886e38, -1],
];

/** Spaces, escapes and look-alikes that must stay as they are. */
function listOf(values: readonly string[]): string {
  const items = values.map(
    (value, index) => `{ "object":"embedding","index":${index},"embedding" : ${value}}`,
  );
  return (
    `{"note":"an \\"embedding\\":[1]", "k\\"embedding":[9.50] ,"data":[${items.join(', ')}],` +
    '"model":"m","usage":{"prompt_tokens":4,"total_tokens":4}}\n'
  );
}

const asFloats = listOf(vectors.map((vector) => JSON.stringify(vector.map((value) => Math.fround(value)))));
const asBase64 = listOf(vectors.map((vector) => JSON.stringify(toBase64Vector(vector))));

function convert(text: string, wanted: 'base64' | 'float', cutBytes = text.length) {
  const converter = new EmbeddingConverter(wanted);
  const out: Uint8Array[] = [];
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += cutBytes) {
    out.push(...converter.push(bytes.subarray(at, at + cutBytes)));
  }
  out.push(...converter.rest());
  return { text: Buffer.concat(out).toString(), problem: converter.problem };
}

describe('embedding converter', () => {
  it('gives base64 for floats, and leaves every other byte', () => {
    assert.deepEqual(convert(asFloats, 'base64'), { text: asBase64, problem: undefined });
  });

  it('gives floats for base64, exactly', () => {
    assert.deepEqual(convert(asBase64, 'float'), { text: asFloats, problem: undefined });
  });

  it('does the same however the answer is cut', () => {
    for (let cut = 1; cut < 40; cut++) {
      assert.equal(convert(asFloats, 'base64', cut).text, asBase64, `cut ${cut}`);
      assert.equal(convert(asBase64, 'float', cut).text, asFloats, `cut ${cut}`);
    }
  });

  it('hands on the very bytes when there is nothing to convert', () => {
    const converter = new EmbeddingConverter('float');
    const first = Buffer.from(asFloats);
    assert.equal(Buffer.concat(converter.push(first)).toString(), asFloats);
    const next = Buffer.from('{"embedding":"AAAA"}');
    assert.deepEqual(converter.push(next), [next]);
    assert.equal(converter.push(next)[0], next);
    assert.equal(convert(asBase64, 'base64', 7).text, asBase64);
    assert.equal(convert('{"data":[]}', 'base64', 3).text, '{"data":[]}');
    assert.equal(convert('{"embedding":null}', 'base64').text, '{"embedding":null}');
  });

  it('tells what it cannot read', () => {
    for (const [text, wanted] of [
      ['{"embedding":[1,null]}', 'base64'],
      ['{"embedding":[[1],[2]]}', 'base64'],
      ['{"embedding":[1,2', 'base64'],
      ['{"embedding":"AAA"}', 'float'],
      ['{"embedding":"AA A A!AAA"}', 'float'],
      [`{"embedding":[${'1,'.repeat(3_000_000)}`, 'base64'],
      [`{"embedding":${' '.repeat(2000)}`, 'base64'],
    ] as const) {
      assert.notEqual(convert(text, wanted, 1000).problem, undefined, text.slice(0, 40));
    }
  });

  it('reads base64 with escaped slashes and without padding', () => {
    const text = toBase64Vector([-1.7, 2.5, 1e-3]);
    assert.deepEqual(toFloatVector(text.replaceAll('/', '\\/').replace(/=+$/, '')), toFloatVector(text));
  });
});
