import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveRawPath } from './raw-path.ts';

const pathOf = (prefix: string, raw: string) => {
  const target = resolveRawPath(prefix, raw);
  return target.kind === 'path' ? target.path : target.kind;
};

describe('raw path', () => {
  it('lies below the configured address', () => {
    assert.equal(pathOf('/v1', 'rerank'), '/v1/rerank');
    assert.equal(pathOf('/v1', 'audio/speech'), '/v1/audio/speech');
    assert.equal(pathOf('', 'rerank'), '/rerank');
    assert.equal(pathOf('/openai/v1', 'responses/resp_1-a.b'), '/openai/v1/responses/resp_1-a.b');
  });

  it('lies at the root for what servers have there', () => {
    assert.equal(pathOf('/v1', 'tokenize'), '/tokenize');
    assert.equal(pathOf('/gpu/v1', 'detokenize'), '/gpu/detokenize');
    assert.equal(pathOf('/api', 'tokenize'), '/api/tokenize');
  });

  for (const raw of [
    '',
    '/rerank',
    'rerank/',
    'a//b',
    '../admin',
    'a/../b',
    'a/./b',
    '..',
    '.hidden',
    'rerank?x=1',
    'rerank#x',
    'a%2e%2e/b',
    'http://169.254.169.254/latest',
    '//169.254.169.254/latest',
    'a\\b',
    'a b',
    'a\r\nx-evil: 1',
    'a\0',
    'ä',
    'user@host',
    `a${'b'.repeat(200)}`,
  ]) {
    it(`F22: ${JSON.stringify(raw).slice(0, 40)} is refused`, () => {
      assert.equal(pathOf('/v1', raw), 'refused');
    });
  }

  for (const raw of ['load_lora_adapter', 'Sleep', 'models/unload', 'collective_rpc']) {
    it(`${raw} is not for callers`, () => assert.equal(pathOf('', raw), 'refused'));
  }
});
