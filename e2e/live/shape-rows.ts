import assert from 'node:assert/strict';
import type { Row } from './place.ts';

const texts = ['The sky is blue.', 'Bread is made of flour.', 'Azure is the colour of the heavens.'];

/** The other shapes of the door: completions, embeddings, and whatever is passed on as it comes. */
export const shapeRows: readonly Row[] = [
  {
    name: 'embeddings come as floats, one vector for each text, with usage',
    async run({ client, model }) {
      const { data, usage } = await client.embeddings.create({
        model,
        input: texts,
        encoding_format: 'float',
      });
      assert.deepEqual(
        data.map(({ index }) => index),
        [0, 1, 2],
      );
      const [sky = [], bread = [], azure = []] = data.map(({ embedding }) => embedding);
      assert.ok(sky.length > 100 && sky.length === bread.length);
      assert.ok(cosine(sky, azure) > cosine(sky, bread), 'what means the same lies nearer');
      assert.ok(usage.prompt_tokens > 0 && usage.total_tokens === usage.prompt_tokens);
    },
  },
  {
    name: 'embeddings asked for as base64 are the same vectors (the official client asks so by itself)',
    async run(place) {
      const { client, model } = place;
      const input = texts[0] as string;
      const floats = await client.embeddings.create({ model, input, encoding_format: 'float' });
      const byItself = await client.embeddings.create({ model, input });
      const raw = await place.post(JSON.stringify({ model, input, encoding_format: 'base64' }), 'embeddings');
      const text = (JSON.parse(raw.text) as { data: { embedding: string }[] }).data[0]?.embedding ?? '';
      const bytes = Buffer.from(text, 'base64');
      const decoded = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4));
      const wanted = floats.data[0]?.embedding ?? [];
      for (const vector of [byItself.data[0]?.embedding ?? [], decoded]) {
        assert.equal(vector.length, wanted.length);
        assert.ok(cosine(vector, wanted) > 0.9999);
      }
    },
  },
  {
    name: 'embeddings of token arrays, one or several, and with dimensions',
    async run({ client, model }) {
      const encoding_format = 'float';
      const one = await client.embeddings.create({ model, input: [28120, 905], encoding_format });
      const text = await client.embeddings.create({ model, input: 'hello world', encoding_format });
      assert.ok(cosine(one.data[0]?.embedding ?? [], text.data[0]?.embedding ?? []) > 0.999);
      const two = await client.embeddings.create({ model, input: [[28120, 905], [28120]], encoding_format });
      assert.equal(two.data.length, 2);
      // llama.cpp takes the wish and gives the vector that it has.
      const short = await client.embeddings.create({ model, input: 'a', dimensions: 8, encoding_format });
      assert.ok((short.data[0]?.embedding.length ?? 0) >= 8);
    },
  },
  {
    name: 'embeddings of 200 texts, some megabytes, come whole',
    async run({ client, model }) {
      const input = Array.from({ length: 200 }, (_, i) => `text ${i}`);
      const { data } = await client.embeddings.create({ model, input, encoding_format: 'float' });
      assert.equal(data.length, 200);
      assert.ok(data.every(({ embedding }) => embedding.length === data[0]?.embedding.length));
    },
  },
  {
    name: 'a completion has text, a finish reason and usage; streamed it says the same',
    async run({ client, model }) {
      const ask = { ...steady, model, prompt: 'One, two, three,', max_tokens: 8, temperature: 0 };
      const whole = await client.completions.create(ask);
      assert.equal(whole.object, 'text_completion');
      assert.ok((whole.choices[0]?.text ?? '').length > 0);
      assert.equal(whole.choices[0]?.finish_reason, 'length');
      assert.ok((whole.usage?.completion_tokens ?? 0) > 0);
      const stream = await client.completions.create({ ...ask, stream: true });
      let text = '';
      let finish = '';
      for await (const { choices } of stream) {
        text += choices[0]?.text ?? '';
        finish = choices[0]?.finish_reason ?? finish;
      }
      assert.deepEqual([text, finish], [whole.choices[0]?.text, 'length']);
    },
  },
  {
    name: 'completions of two prompts, n, logprobs and echo are taken',
    async run({ client, model }) {
      const ask = { ...steady, model, max_tokens: 4, temperature: 0.5 };
      const prompts = await client.completions.create({ ...ask, prompt: ['One, two,', 'Red, green,'] });
      assert.deepEqual(prompts.choices.map(({ index }) => index).sort(), [0, 1]);
      const many = await client.completions.create({ ...ask, prompt: 'One, two,', n: 2, logprobs: 1 });
      assert.equal(many.choices.length, 2);
      assert.ok(many.choices.every(({ logprobs }) => logprobs !== null));
      // llama.cpp takes the wish and does not echo.
      const echo = await client.completions.create({ ...ask, prompt: 'One, two,', echo: true });
      assert.ok((echo.choices[0]?.text ?? '').length > 0);
    },
  },
  {
    name: 'tokenize and detokenize, which lie at the root of the engine',
    only: 'iop',
    async run(place) {
      const ask = async (path: string, body: object) => {
        const answer = await place.post(JSON.stringify({ model: place.model, ...body }), path);
        assert.equal(answer.status, 200, answer.text);
        assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
        return JSON.parse(answer.text) as Record<string, unknown>;
      };
      const text = { content: 'hello world', prompt: 'hello world' };
      const { tokens } = await ask('tokenize', text);
      assert.deepEqual(tokens, [28120, 905]);
      assert.match(JSON.stringify(await ask('detokenize', { tokens })), /hello world/);
    },
  },
  {
    name: 'a response is streamed as events, by the engine or by the Edge',
    async run(place) {
      const body = { model: place.model, input: 'Say hello.', max_output_tokens: 4, stream: true };
      const { status, headers, text } = await place.post(JSON.stringify(body), 'responses');
      assert.equal(status, 200, text);
      assert.match(headers.get('content-type') ?? '', /^text\/event-stream/);
      assert.match(text, /^event: response\.created\n/);
      assert.match(text, /event: response\.(completed|incomplete)\ndata: .*\n\n/);
    },
  },
  {
    name: 'what the engine was not started for is refused in its own words',
    async run(place) {
      const rerank = { model: place.model, query: 'a', documents: ['b'] };
      const refused = await place.post(JSON.stringify(rerank), 'rerank');
      assert.ok(refused.status >= 400, refused.text);
      const unknown = await place.post(JSON.stringify({ model: place.model, input: 'a' }), 'audio/speech');
      assert.equal(unknown.status, 404, unknown.text);
    },
  },
];

/** The same every time, whatever earlier requests left in the cache. */
const steady: Record<string, unknown> = { cache_prompt: false };

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
