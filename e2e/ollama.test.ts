// Ollama behind a Node as the official client sees it: nothing of Ollama's own form is left. The Ollama is a fake.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type OpenAI from 'openai';
import { type FakeOllama, says, send, sendLines } from './harness/ollama.ts';
import { type OllamaScene, openOllamaScene } from './harness/ollama-scene.ts';
import { at } from './harness/scene.ts';

const limit = { timeout: 60_000 };
const ask = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };
const weather = (city: string) => ({ function: { index: 0, name: 'weather', arguments: { city } } });
const tools = [
  {
    type: 'function' as const,
    function: { name: 'weather', parameters: { type: 'object', properties: {} } },
  },
];

describe('Ollama behind a Node', { timeout: 300_000 }, () => {
  let scene: OllamaScene;
  let ollama: FakeOllama;
  let client: OpenAI;
  before(async () => {
    scene = await openOllamaScene();
    ({ ollama, client } = scene);
  });
  after(() => scene?.world.close());

  test('lists its models, the one that only embeds too', limit, async () => {
    const names: string[] = [];
    for await (const model of client.models.list()) names.push(model.id);
    assert.deepEqual(names.toSorted(), ['e:1b', 'm']);
  });

  test('chats, and is asked for no more than was said', limit, async () => {
    ollama.act(sendLines(says({ content: 'hel' }), says({ content: 'lo' })));
    const answer = await client.chat.completions.create({ ...ask, max_tokens: 9, temperature: 0 });
    assert.equal(answer.choices[0]?.message.content, 'hello');
    assert.deepEqual(answer.usage, { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 });
    assert.equal(answer.choices[0]?.finish_reason, 'stop');
    assert.deepEqual(ollama.asks.at(-1)?.body, {
      model: 'm:1b',
      messages: ask.messages,
      stream: true,
      truncate: false,
      shift: false,
      options: { num_predict: 9, temperature: 0, num_ctx: 4096 },
    });
  });

  test('streams what it thinks and what it says', limit, async () => {
    ollama.act(sendLines(says({ thinking: 'hm' }), says({ content: 'a' }), says({ content: 'b' })));
    const stream = await client.chat.completions.create({
      ...ask,
      stream: true,
      reasoning_effort: 'high',
      stream_options: { include_usage: true },
    });
    let text = '';
    let thought = '';
    let total: number | undefined;
    for await (const { choices, usage } of stream) {
      const delta = (choices[0]?.delta ?? {}) as { content?: string; reasoning_content?: string };
      text += delta.content ?? '';
      thought += delta.reasoning_content ?? '';
      total = usage?.total_tokens ?? total;
    }
    assert.deepEqual([text, thought, total, ollama.asks.at(-1)?.body.think], ['ab', 'hm', 10, 'high']);
  });

  for (const stream of [false, true]) {
    test(
      `calls tools: arguments as text, an index and an id each, "tool_calls" at the end (stream: ${stream})`,
      limit,
      async () => {
        ollama.act(
          sendLines(says({ tool_calls: [weather('Bern')] }), says({ tool_calls: [weather('Oslo')] })),
        );
        const { message, finish_reason } = await (stream
          ? client.chat.completions.stream({ ...ask, tools }).finalChatCompletion()
          : client.chat.completions.create({ ...ask, tools })
        ).then(({ choices }) => at(choices, 0));
        const calls = (message.tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [call] : []));
        assert.deepEqual(
          calls.map(({ function: called }) => [called.name, JSON.parse(called.arguments)]),
          [
            ['weather', { city: 'Bern' }],
            ['weather', { city: 'Oslo' }],
          ],
        );
        assert.equal(finish_reason, 'tool_calls');
        assert.equal(new Set(calls.map(({ id }) => id)).size, 2);
        ollama.act(sendLines(says({ content: 'rain' })));
        const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'rain' }));
        await client.chat.completions.create({
          ...ask,
          tools,
          messages: [...ask.messages, message, ...results],
        });
        const sent = ollama.asks.at(-1)?.body.messages as Record<string, never>[];
        assert.deepEqual(
          at(sent, 1).tool_calls,
          calls.map(({ id }, index) => ({
            id,
            function: { ...weather(at(['Bern', 'Oslo'], index)).function, index },
          })),
        );
        assert.deepEqual(at(sent, 2), {
          role: 'tool',
          content: 'rain',
          tool_call_id: calls[0]?.id,
          tool_name: 'weather',
        });
      },
    );
  }

  test('sees images and answers by a schema', limit, async () => {
    ollama.act(sendLines(says({ content: '{"cat":true}' })));
    const schema = { type: 'object', properties: { cat: { type: 'boolean' } } };
    await client.chat.completions.create({
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a cat?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } },
          ],
        },
      ],
      response_format: { type: 'json_schema', json_schema: { name: 'cat', schema } },
    });
    const { messages, format } = ollama.asks.at(-1)?.body ?? {};
    assert.deepEqual(
      [messages, format],
      [[{ role: 'user', content: 'a cat?', images: ['aGVsbG8='] }], schema],
    );
  });

  test('completes, whole and streamed', limit, async () => {
    ollama.act(sendLines({ response: ' upon' }, { response: ' a time' }));
    const prompt = 'once';
    const whole = await client.completions.create({ model: 'm', prompt, suffix: '.', echo: true });
    assert.equal(whole.object, 'text_completion');
    assert.deepEqual([whole.choices[0]?.text, whole.choices[0]?.finish_reason], ['once upon a time', 'stop']);
    assert.equal(whole.usage?.total_tokens, 10);
    assert.equal(ollama.asks.at(-1)?.body.suffix, '.');
    let text = '';
    for await (const part of await client.completions.create({ model: 'm', prompt, stream: true })) {
      text += part.choices[0]?.text ?? '';
    }
    assert.equal(text, ' upon a time');
  });

  test(
    'embeds: base64, which the client asks for by itself, gives the numbers that floats do',
    limit,
    async () => {
      const vector = [0.5, -0.25, 1];
      ollama.act(({ response }) =>
        send(response, 200, { embeddings: [vector, vector], prompt_eval_count: 4 }),
      );
      const input = ['a', 'b'];
      const base64 = await client.embeddings.create({ model: 'e:1b', input });
      const floats = await client.embeddings.create({ model: 'e:1b', input, encoding_format: 'float' });
      assert.deepEqual(base64, floats);
      assert.deepEqual(
        floats.data.map(({ embedding, index }) => [index, embedding]),
        [
          [0, vector],
          [1, vector],
        ],
      );
      assert.deepEqual([floats.model, floats.usage], ['e:1b', { prompt_tokens: 4, total_tokens: 4 }]);
    },
  );

  test('embeds two thousand texts at once', limit, async () => {
    const embeddings = Array.from({ length: 2048 }, (_, i) =>
      Array.from({ length: 1024 }, (_, k) => (i * 1024 + k) / 4),
    );
    ollama.act(({ response }) => send(response, 200, { embeddings, prompt_eval_count: 4 }));
    const input = embeddings.map((_, index) => `text ${index}`);
    const { data } = await client.embeddings.create({ model: 'e:1b', input });
    assert.equal(data.length, 2048);
    assert.deepEqual(data[2047]?.embedding, embeddings[2047]);
  });
});
