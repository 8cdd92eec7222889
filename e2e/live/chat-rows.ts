import assert from 'node:assert/strict';
import type { OpenAI } from 'openai';
import { ask } from './ask.ts';
import type { Place, Row } from './place.ts';

type Chunk = OpenAI.Chat.ChatCompletionChunk;

/** What the official client gets for ordinary chats. */
export const chatRows: readonly Row[] = [
  {
    name: 'the model is listed once, with all that the specification requires',
    async run({ client, model }) {
      const { data } = await client.models.list();
      assert.deepEqual(
        data.map(({ id }) => id),
        [model],
      );
      const [card] = data;
      assert.equal(card?.object, 'model');
      assert.equal(typeof card?.created, 'number');
      assert.equal(typeof card?.owned_by, 'string');
    },
  },
  {
    name: 'the model is found by its name',
    only: 'iop', // llama.cpp has no such route
    run: async ({ client, model }) => assert.equal((await client.models.retrieve(model)).id, model),
  },
  {
    name: 'an answer has text, a finish reason and usage that adds up',
    async run({ client, model }) {
      const answer = await client.chat.completions.create(ask(model));
      const [choice] = answer.choices;
      assert.equal(answer.object, 'chat.completion');
      assert.equal(choice?.message.role, 'assistant');
      assert.ok((choice?.message.content ?? '').length > 0);
      assert.match(choice?.finish_reason ?? '', /^(stop|length)$/);
      const { prompt_tokens = 0, completion_tokens = 0, total_tokens = 0 } = answer.usage ?? {};
      assert.ok(prompt_tokens > 0 && completion_tokens > 0);
      assert.equal(prompt_tokens + completion_tokens, total_tokens);
    },
  },
  {
    name: 'a streamed answer says what the whole answer says',
    async run({ client, model }) {
      const whole = await client.chat.completions.create(ask(model));
      const streamed = await client.chat.completions.stream(ask(model)).finalChatCompletion();
      assert.equal(streamed.choices[0]?.message.content, whole.choices[0]?.message.content);
      assert.equal(streamed.choices[0]?.finish_reason, whole.choices[0]?.finish_reason);
    },
  },
  {
    name: 'all chunks of a stream carry one id; usage comes once, last, when it was asked for',
    async run(place) {
      const chunks = await collect(place, { stream_options: { include_usage: true } });
      assert.equal(new Set(chunks.map((chunk) => chunk.id)).size, 1);
      assert.equal(chunks[0]?.choices[0]?.delta.role, 'assistant');
      const withUsage = chunks.filter((chunk) => chunk.usage != null);
      assert.deepEqual(withUsage, chunks.slice(-1));
      assert.deepEqual(withUsage[0]?.choices, []);
      assert.ok((withUsage[0]?.usage?.completion_tokens ?? 0) > 0);
    },
  },
  {
    name: 'a stream without include_usage shows no usage',
    async run(place) {
      const chunks = await collect(place, {});
      assert.ok(chunks.every((chunk) => chunk.usage == null && chunk.choices.length === 1));
      assert.equal(chunks.filter((chunk) => chunk.choices[0]?.finish_reason != null).length, 1);
    },
  },
  {
    name: 'n = 2 gives two whole choices, streamed and not',
    async run({ client, model }) {
      const whole = await client.chat.completions.create(ask(model, { n: 2, temperature: 0.8 }));
      const streamed = await client.chat.completions
        .stream(ask(model, { n: 2, temperature: 0.8 }))
        .finalChatCompletion();
      for (const answer of [whole, streamed]) {
        assert.deepEqual(answer.choices.map((choice) => choice.index).sort(), [0, 1]);
        assert.ok(answer.choices.every((choice) => (choice.message.content ?? '').length > 0));
      }
    },
  },
  {
    name: 'logprobs come for each token, streamed and not',
    async run(place) {
      const wish = { logprobs: true, top_logprobs: 2, max_tokens: 5 };
      const whole = await place.client.chat.completions.create(ask(place.model, wish));
      const tokens = whole.choices[0]?.logprobs?.content ?? [];
      assert.ok(tokens.length > 0 && tokens.every((token) => token.top_logprobs.length === 2));
      const chunks = await collect(place, wish);
      const streamed = chunks.flatMap((chunk) => chunk.choices[0]?.logprobs?.content ?? []);
      assert.deepEqual(
        streamed.map((token) => token.token),
        tokens.map((token) => token.token),
      );
    },
  },
  {
    name: 'a JSON schema is obeyed',
    async run({ client, model }) {
      const answer = await client.chat.completions.create(
        ask(model, {
          max_tokens: 100,
          messages: [{ role: 'user', content: 'A city.' }],
          response_format: city,
        }),
      );
      const made = JSON.parse(answer.choices[0]?.message.content ?? '') as Record<string, unknown>;
      assert.deepEqual(Object.keys(made).sort(), ['name', 'size']);
      assert.equal(typeof made.name, 'string');
      assert.ok(Number.isInteger(made.size));
    },
  },
  {
    name: 'three streams at two slots all end whole',
    async run(place) {
      const answers = await Promise.all([1, 2, 3].map(() => collect(place, {})));
      for (const chunks of answers) assert.ok(chunks.at(-1)?.choices[0]?.finish_reason != null);
    },
  },
];

const city: OpenAI.ResponseFormatJSONSchema = {
  type: 'json_schema',
  json_schema: {
    name: 'city',
    strict: true,
    schema: {
      type: 'object',
      properties: { name: { type: 'string', maxLength: 20 }, size: { type: 'integer' } },
      required: ['name', 'size'],
      additionalProperties: false,
    },
  },
};

async function collect(
  { client, model }: Place,
  extra: Partial<OpenAI.Chat.ChatCompletionCreateParamsStreaming>,
): Promise<Chunk[]> {
  const { stream: _stream, ...rest } = extra;
  const stream = await client.chat.completions.create({ ...ask(model, rest), stream: true });
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}
