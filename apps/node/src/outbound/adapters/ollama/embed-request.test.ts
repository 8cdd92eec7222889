import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatSpec } from '../../../testing/specs.ts';
import { toOllamaEmbed } from './embed-request.ts';
import type { RequestSettings } from './ollama-request.ts';

const plain: RequestSettings = { numCtx: 0, keepAlive: '', think: true };

function translate(request: Record<string, unknown>, settings: Partial<RequestSettings> = {}) {
  const body = Buffer.from(JSON.stringify({ model: 'public', input: 'a', ...request }));
  return toOllamaEmbed(chatSpec('m', { dialect: 'openai.embeddings', body }), { ...plain, ...settings });
}

function refusalOf(request: Record<string, unknown>) {
  const outcome = translate(request);
  if (outcome.kind !== 'refused') throw new Error('expected a refusal');
  return outcome.failure;
}

describe('ollama: a request for embeddings', () => {
  it('is never shortened unseen (O8), and carries what is configured', () => {
    const outcome = translate({ input: ['a', 'bc'], dimensions: 4 }, { numCtx: 512, keepAlive: '0' });
    assert.equal(outcome.kind, 'request');
    if (outcome.kind !== 'request') return;
    assert.deepEqual(JSON.parse(Buffer.from(outcome.body).toString()), {
      model: 'm',
      input: ['a', 'bc'],
      truncate: false,
      dimensions: 4,
      keep_alive: 0,
      options: { num_ctx: 512 },
    });
    assert.equal(outcome.textLength, 3);
    assert.deepEqual(outcome.shape, { model: 'public', format: 'float', count: 2, dimensions: 4 });
  });

  it('may be one text, in floats or base64', () => {
    assert.deepEqual(translate({ encoding_format: 'base64' }).shape, {
      model: 'public',
      format: 'base64',
      count: 1,
      dimensions: undefined,
    });
  });

  it('refuses tokens for text, naming the input', () => {
    for (const input of [
      [1, 2],
      [[1, 2], [3]],
    ]) {
      const failure = refusalOf({ input });
      assert.deepEqual([failure.kind, failure.details.param], ['unsupported', 'input']);
      assert.match(failure.message, /Ollama takes texts, not tokens/);
    }
  });

  it('refuses what is no text, and what it does not know', () => {
    for (const input of ['', [], ['a', ''], null, { a: 1 }, [true]]) {
      assert.equal(refusalOf({ input }).details.param, 'input');
    }
    assert.equal(refusalOf({ encoding_format: 'int8' }).details.param, 'encoding_format');
    for (const dimensions of [0, -1, 1.5, '4']) {
      assert.equal(refusalOf({ dimensions }).details.param, 'dimensions');
    }
  });
});
