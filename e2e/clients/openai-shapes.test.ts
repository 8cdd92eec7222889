// The official client on the paths beside chat: completions, embeddings, and what only an upstream knows.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI, { APIError, BadRequestError, NotFoundError } from 'openai';
import { openScene, type Scene } from '../harness/scene.ts';

const limit = { timeout: 60_000 };
const model = 'mock/echo';

describe('the official client beside chat', { timeout: 300_000 }, () => {
  let scene: Scene;
  let client: OpenAI;
  before(async () => {
    scene = await openScene();
    const { url, apiKey } = scene.edge;
    client = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
  });
  after(() => scene?.world.close());

  test('completes a text, several prompts and choices included', limit, async () => {
    const answer = await client.completions.create({ model, prompt: ['a b', 'once upon'], n: 2 });
    assert.deepEqual(
      answer.choices.map(({ index, text }) => [index, text]),
      [0, 1, 2, 3].map((index) => [index, 'once upon']),
    );
  });

  test('streams a completion', limit, async () => {
    const stream = await client.completions.create({ model, prompt: 'once upon a time', stream: true });
    let text = '';
    for await (const part of stream) text += part.choices[0]?.text ?? '';
    assert.equal(text, 'once upon a time');
  });

  test('a completion that breaks is thrown', limit, async () => {
    const prompt = '<mock>{"text":"one two three","cut":{"at":2}}</mock>';
    const stream = await client.completions.create({ model, prompt, stream: true });
    await assert.rejects(async () => {
      for await (const _part of stream);
    }, APIError);
  });

  test('embeds: base64, which it asks for by itself, gives the same numbers as floats', limit, async () => {
    const input = ['a red house', 'tax law'];
    const base64 = await client.embeddings.create({ model, input });
    const floats = await client.embeddings.create({ model, input, encoding_format: 'float' });
    assert.deepEqual(base64.data, floats.data);
    assert.equal(base64.data[1]?.embedding.length, 64);
    assert.deepEqual(base64.usage, { prompt_tokens: 5, total_tokens: 5 });
  });

  test('embeds two thousand texts at once, whole and in order', limit, async () => {
    const input = Array.from({ length: 2048 }, (_, index) => `text ${index}`);
    const answer = await client.embeddings.create({
      model,
      input,
      dimensions: 1024,
      encoding_format: 'float',
    });
    assert.equal(answer.data.length, 2048);
    const [last] = (await client.embeddings.create({ model, input: 'text 2047', dimensions: 1024 })).data;
    assert.deepEqual(answer.data[2047]?.embedding, last?.embedding);
  });

  test('embeddings that fail are an error with the status of the upstream', limit, async () => {
    const input = '<mock>{"error":{"status":400,"message":"input too long"}}</mock>';
    await assert.rejects(client.embeddings.create({ model, input }), BadRequestError);
  });

  test('passes on a form with a file', limit, async () => {
    const file = new File([Buffer.alloc(500_000, 7)], 'speech.wav');
    const answer: unknown = await client.audio.transcriptions.create({ model, file });
    assert.partialDeepStrictEqual(answer, { path: 'audio/transcriptions', model: 'echo' });
  });

  test(
    'passes on what it has no word for, and knows that without a model nothing is there',
    limit,
    async () => {
      const body = { model, query: 'hello', documents: ['a', 'b'] };
      const answer = await client.post('/rerank', { body });
      assert.partialDeepStrictEqual(answer, { object: 'mock.raw', path: 'rerank', text: 'hello' });
      await assert.rejects(client.post('/rerank', { body: { query: 'x' } }), NotFoundError);
    },
  );
});
