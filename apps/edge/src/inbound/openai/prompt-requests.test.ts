import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCompletionsRequest } from './completions-request.ts';
import { parseEmbeddingsRequest } from './embeddings-request.ts';
import type { RequestOutcome } from './run-shape.ts';

type Parse = (bytes: Uint8Array) => RequestOutcome;

/** `code param` of the refusal, or `taken`. */
function judge(parse: Parse, body: unknown): string {
  const outcome = parse(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
  if (outcome.kind === 'request') return 'taken';
  const { status, type, code, param } = outcome.refusal;
  assert.deepEqual([status, type], [400, 'invalid_request_error']);
  return `${code} ${param ?? '-'}`;
}

const completion = (fields: object) => judge(parseCompletionsRequest, { model: 'm', prompt: 'x', ...fields });
const embedding = (fields: object) => judge(parseEmbeddingsRequest, { model: 'm', input: 'x', ...fields });

/** What holds for `prompt` and for `input`. */
const inputs: readonly (readonly [unknown, string])[] = [
  ['', 'taken'],
  [['a', 'b'], 'taken'],
  [[1, 2, 3], 'taken'],
  [[[1, 2], [3]], 'taken'],
  [[{ prompt_string: 'a', multimodal_data: [] }], 'taken'],
  [[], 'empty_array @'],
  [[[1], []], 'empty_array @[1]'],
  [7, 'invalid_type @'],
  [{}, 'invalid_type @'],
  [true, 'invalid_type @'],
  [['a', 1], 'invalid_type @[1]'],
  [[1, 'a'], 'invalid_type @[1]'],
  [[1, 2.5], 'invalid_type @[1]'],
  [[[1], 2], 'invalid_type @[1]'],
  [[[1, '2']], 'invalid_type @[0][1]'],
  [[[[1]]], 'invalid_type @[0][0]'],
  [[null], 'invalid_type @[0]'],
  [['a', null], 'invalid_type @[1]'],
];

for (const [value, verdict] of inputs) {
  test(`a prompt or an input of ${JSON.stringify(value)}: ${verdict.replace('@', 'at its place')}`, () => {
    assert.equal(completion({ prompt: value }), verdict.replace('@', 'prompt'));
    assert.equal(embedding({ input: value }), verdict.replace('@', 'input'));
  });
}

test('a completion without what every upstream needs is refused with the place of the fault', () => {
  assert.equal(judge(parseCompletionsRequest, { prompt: 'x' }), 'missing_required_parameter model');
  assert.equal(judge(parseCompletionsRequest, { model: 'm' }), 'missing_required_parameter prompt');
  assert.equal(completion({ prompt: null }), 'missing_required_parameter prompt');
  assert.equal(completion({ prompt: undefined, prompt_embeds: 'AAAA' }), 'taken');
  assert.equal(completion({ model: '' }), 'invalid_value model');
  assert.equal(completion({ model: ['m'] }), 'invalid_type model');
  assert.equal(judge(parseCompletionsRequest, ''), 'invalid_json -');
  assert.equal(judge(parseCompletionsRequest, '{"model":"m","prompt":'), 'invalid_json -');
  assert.equal(judge(parseCompletionsRequest, '[]'), 'invalid_type -');
});

test('fields of a completion that no upstream could read are refused, all others are its business', () => {
  assert.equal(completion({ stream: 'yes' }), 'invalid_type stream');
  assert.equal(completion({ stream_options: [] }), 'invalid_type stream_options');
  assert.equal(
    completion({ stream_options: { include_usage: 1 } }),
    'invalid_type stream_options.include_usage',
  );
  assert.equal(completion({ n: 0 }), 'integer_below_min_value n');
  assert.equal(completion({ n: 1.5 }), 'invalid_type n');
  assert.equal(completion({ best_of: -1 }), 'integer_below_min_value best_of');
  assert.equal(completion({ echo: 'true' }), 'invalid_type echo');
  assert.equal(completion({ suffix: 1 }), 'invalid_type suffix');
  assert.equal(completion({ max_tokens: '16' }), 'invalid_type max_tokens');
  const odd = { max_tokens: -1, logprobs: true, temperature: 'hot', suffix: null, grammar: 'root' };
  assert.equal(completion(odd), 'taken');
});

test('embeddings without what every upstream needs are refused with the place of the fault', () => {
  assert.equal(judge(parseEmbeddingsRequest, { input: 'x' }), 'missing_required_parameter model');
  assert.equal(judge(parseEmbeddingsRequest, { model: 'm' }), 'missing_required_parameter input');
  assert.equal(embedding({ input: null }), 'missing_required_parameter input');
  assert.equal(embedding({ input: undefined, messages: [{ role: 'user', content: 'x' }] }), 'taken');
  assert.equal(embedding({ dimensions: 0 }), 'integer_below_min_value dimensions');
  assert.equal(embedding({ dimensions: -5 }), 'integer_below_min_value dimensions');
  assert.equal(embedding({ dimensions: '5' }), 'invalid_type dimensions');
  assert.equal(embedding({ encoding_format: 'base65' }), 'invalid_value encoding_format');
  assert.equal(embedding({ encoding_format: 64 }), 'invalid_type encoding_format');
  for (const format of ['float', 'base64', null])
    assert.equal(embedding({ encoding_format: format }), 'taken');
});

test('a completion says whether it is a stream; embeddings never are', () => {
  const fields = { model: 'm', stream: true, stream_options: { include_usage: true } };
  const parse = (take: Parse, body: object) => {
    const outcome = take(Buffer.from(JSON.stringify(body)));
    return outcome.kind === 'request' && outcome.request;
  };
  assert.deepEqual(parse(parseCompletionsRequest, { ...fields, prompt: 'x' }), {
    model: 'm',
    stream: true,
    includeUsage: true,
  });
  assert.deepEqual(parse(parseEmbeddingsRequest, { ...fields, input: 'x' }), {
    model: 'm',
    stream: false,
    includeUsage: false,
  });
});

test('a million tokens are looked through in no time', () => {
  const input = Array.from({ length: 1_000_000 }, (_, index) => index);
  assert.equal(embedding({ input }), 'taken');
});
