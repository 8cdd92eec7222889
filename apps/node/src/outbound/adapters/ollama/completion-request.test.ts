import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatSpec } from '../../../testing/specs.ts';
import { toOllamaGenerate } from './completion-request.ts';
import type { RequestSettings } from './ollama-request.ts';

const plain: RequestSettings = { numCtx: 0, keepAlive: '', think: undefined };

function translate(request: Record<string, unknown>, settings: Partial<RequestSettings> = {}) {
  const body = Buffer.from(JSON.stringify({ model: 'public', prompt: 'once', ...request }));
  return toOllamaGenerate(chatSpec('m', { dialect: 'openai.completions', body }), { ...plain, ...settings });
}

function bodyOf(request: Record<string, unknown>, settings: Partial<RequestSettings> = {}) {
  const outcome = translate(request, settings);
  if (outcome.kind === 'refused') throw new Error(outcome.failure.message);
  return JSON.parse(Buffer.from(outcome.body).toString());
}

function refusalOf(request: Record<string, unknown>) {
  const outcome = translate(request);
  if (outcome.kind !== 'refused') throw new Error('expected a refusal');
  return outcome.failure;
}

describe('ollama: a request for a completion', () => {
  it('always streams and is never shortened unseen (O8)', () => {
    const expected = { model: 'm', prompt: 'once', stream: true, truncate: false, shift: false };
    assert.deepEqual(bodyOf({ stream: false }), expected);
    assert.deepEqual(bodyOf({ prompt: ['once'] }), expected);
  });

  it('carries suffix, raw, how to sample, and what is configured', () => {
    const body = bodyOf(
      { suffix: 'the end', raw: true, max_tokens: 5, stop: 'x', reasoning_effort: 'none' },
      { numCtx: 8192, keepAlive: '5m', think: true },
    );
    assert.deepEqual(
      [body.suffix, body.raw, body.think, body.keep_alive, body.options],
      ['the end', true, false, '5m', { num_predict: 5, stop: ['x'], num_ctx: 8192 }],
    );
  });

  it('lets a model that can think do so only if that was asked for: nobody would see it', () => {
    assert.equal(bodyOf({}, { thinks: true }).think, false);
    assert.equal(bodyOf({ reasoning_effort: 'low' }, { thinks: true }).think, 'low');
    assert.equal(bodyOf({}, { thinks: true, think: true }).think, true);
    assert.equal(bodyOf({}, { thinks: false }).think, undefined);
  });

  it('takes the values that ask for nothing', () => {
    const nothing = { n: 1, best_of: 1, logprobs: null, logit_bias: {}, suffix: '', echo: false, user: 'u' };
    assert.equal(bodyOf(nothing).suffix, undefined);
  });

  it('gives the prompt back to a caller that wants it echoed', () => {
    assert.equal(translate({ echo: true }).echo, 'once');
    assert.equal(translate({}).echo, '');
  });

  for (const [param, value] of Object.entries({
    prompt: ['one', 'two'],
    n: 2,
    best_of: 3,
    logprobs: 0,
    logit_bias: { 5: 1 },
    images: ['aGVsbG8='],
  })) {
    it(`refuses ${param} by name (O1)`, () => {
      const failure = refusalOf({ [param]: value });
      assert.deepEqual(
        [failure.kind, failure.code, failure.details.param],
        ['unsupported', 'request.unsupported', param],
      );
    });
  }

  it('refuses tokens for text, naming the prompt', () => {
    for (const prompt of [[1, 2], [[1, 2]]]) {
      assert.match(refusalOf({ prompt }).message, /^prompt: Ollama takes text, not tokens$/);
    }
  });

  it('refuses what would only load a model, and wrong types', () => {
    for (const prompt of ['', [], [''], null, { a: 1 }]) {
      assert.match(refusalOf({ prompt }).message, /^prompt: expected a text that is not empty$/);
    }
    assert.equal(refusalOf({ suffix: 7 }).details.param, 'suffix');
    assert.equal(refusalOf({ echo: 'yes' }).details.param, 'echo');
  });
});
