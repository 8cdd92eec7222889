import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maxPieceBytes } from './answer.ts';
import { encodeEmbeddingList, toBase64Vector } from './embedding-body.ts';

describe('embedding body', () => {
  it('gives vectors as little-endian float32 in base64', () => {
    // 1 is 0x3f800000, -2 is 0xc0000000, 0.1 is 0x3dcccccd.
    const bytes = [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0xcd, 0xcc, 0xcc, 0x3d];
    assert.equal(toBase64Vector([1, -2, 0.1]), Buffer.from(bytes).toString('base64'));
    assert.equal(toBase64Vector([]), '');
  });

  it('is OpenAI’s list, in order', () => {
    const vectors = [Buffer.from('[0.5,-1e-7]'), Buffer.from('"AACAPw=="')];
    const pieces = [...encodeEmbeddingList({ model: 'a "b"', vectors, promptTokens: 3, estimated: false })];
    assert.equal(pieces.length, 1);
    assert.deepEqual(JSON.parse(Buffer.concat(pieces).toString()), {
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [0.5, -1e-7] },
        { object: 'embedding', index: 1, embedding: 'AACAPw==' },
      ],
      model: 'a "b"',
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
  });

  it('says of a count that it is estimated', () => {
    const pieces = [...encodeEmbeddingList({ model: 'm', vectors: [], promptTokens: 3, estimated: true })];
    assert.equal(JSON.parse(Buffer.concat(pieces).toString()).usage.estimated, true);
  });

  it('comes in full pieces that no later one overwrites', () => {
    const vectors = Array.from({ length: 50 }, (_, i) => Buffer.from(JSON.stringify(`${i}-`.repeat(5000))));
    const pieces = [...encodeEmbeddingList({ model: 'm', vectors, promptTokens: 1, estimated: false })];
    assert.ok(pieces.slice(0, -1).every((piece) => piece.length === maxPieceBytes));
    const { data } = JSON.parse(Buffer.concat(pieces).toString());
    assert.equal(data[49].embedding, '49-'.repeat(5000));
  });
});
