/**
 * A real Ollama that is running already, through Edge and Node, judged by the official `openai` client:
 * `IOP_LIVE_OLLAMA=http://127.0.0.1:11434 npm run test:live`. It is asked what its models can do; rows for which it
 * has no model are skipped by name. Any small models will do: what they say is not looked at.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI, { type APIError } from 'openai';
import type { Edge } from '../harness/edge.ts';
import { openWorld, type World } from '../harness/world.ts';

const numCtx = 2048;
const baseUrl = process.env.IOP_LIVE_OLLAMA ?? '';
const limit = { timeout: 180_000 };
const models = baseUrl === '' ? new Map<string, readonly string[]>() : await findModels();
const messages = [{ role: 'user' as const, content: 'Say hello.' }];
const base64 = { encoding_format: 'base64' as const };

async function findModels(): Promise<Map<string, readonly string[]>> {
  const { models: cards } = (await (await fetch(`${baseUrl}/api/tags`)).json()) as {
    models: { name: string }[];
  };
  const shown = cards.map(async ({ name }) => {
    const answer = await fetch(`${baseUrl}/api/show`, {
      method: 'POST',
      body: JSON.stringify({ model: name }),
    });
    return [name, ((await answer.json()) as { capabilities?: string[] }).capabilities ?? []] as const;
  });
  return new Map(await Promise.all(shown));
}

function find(...skills: readonly string[]): string {
  const found = [...models].find(([, has]) => skills.every((skill) => has.includes(skill)));
  return found?.[0] ?? '';
}

function needs(...skills: readonly string[]) {
  const skip = baseUrl === '' ? 'IOP_LIVE_OLLAMA names no Ollama' : `no model with ${skills.join(', ')}`;
  return { ...limit, skip: find(...skills) === '' ? skip : false };
}

describe('a real Ollama through Edge and Node', () => {
  let world: World;
  let edge: Edge;
  let client: OpenAI;
  before(async () => {
    if (models.size === 0) return;
    world = openWorld();
    edge = await world.edge({
      adapters: [{ name: 'ollama', kind: 'ollama', nodes: ['n'], base_url: baseUrl, num_ctx: numCtx }],
    });
    await world.node(edge, { name: 'n', allow: { adapters: ['ollama'] } });
    client = new OpenAI({ baseURL: `${edge.url}/v1`, apiKey: edge.apiKey, maxRetries: 0 });
  });
  after(() => world?.close());

  test('lists what can chat or embed', needs(), async () => {
    const listed: string[] = [];
    for await (const { id } of client.models.list()) listed.push(id);
    const useful = [...models].filter(([, has]) => has.includes('completion') || has.includes('embedding'));
    assert.deepEqual(listed.toSorted(), useful.map(([name]) => name).toSorted());
  });

  test('chats, and stops at the length that was asked for', needs('completion'), async () => {
    const answer = await client.chat.completions.create({
      model: find('completion'),
      messages,
      max_tokens: 5,
      reasoning_effort: 'none',
    });
    assert.equal(answer.choices[0]?.finish_reason, 'length');
    assert.equal(answer.usage?.completion_tokens, 5);
    assert.ok((answer.usage?.prompt_tokens ?? 0) > 3);
  });

  test('streams', needs('completion'), async () => {
    const request = {
      model: find('completion'),
      messages,
      max_tokens: 20,
      reasoning_effort: 'none' as const,
    };
    const answer = await client.chat.completions
      .stream({ ...request, stream_options: { include_usage: true } })
      .finalChatCompletion();
    assert.ok((answer.choices[0]?.message.content ?? '').length > 0);
    assert.ok((answer.usage?.completion_tokens ?? 0) > 0);
  });

  test('answers by a schema', needs('completion'), async () => {
    const schema = { type: 'object', properties: { city: { enum: ['Bern', 'Oslo'] } }, required: ['city'] };
    const answer = await client.chat.completions.create({
      model: find('completion'),
      messages,
      reasoning_effort: 'none',
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    });
    assert.match(JSON.parse(answer.choices[0]?.message.content ?? '').city, /^(Bern|Oslo)$/);
  });

  test('thinks', needs('thinking'), async () => {
    const model = find('thinking');
    const answer = await client.chat.completions.create({
      model,
      messages,
      max_tokens: 30,
      reasoning_effort: 'high',
    });
    const message = answer.choices[0]?.message as { reasoning_content?: string } | undefined;
    assert.ok((message?.reasoning_content ?? '').length > 0);
  });

  test('calls a tool', needs('completion', 'tools'), async () => {
    const city = { type: 'object', properties: { city: { enum: ['Bern'] } }, required: ['city'] };
    const call = {
      type: 'object',
      properties: { name: { enum: ['weather'] }, arguments: city },
      required: ['name', 'arguments'],
    };
    const answer = await client.chat.completions.create({
      model: find('completion', 'tools'),
      messages: [{ role: 'user', content: 'How is the weather in Bern? Call the tool.' }],
      reasoning_effort: 'none',
      tools: [{ type: 'function', function: { name: 'weather', parameters: city } }],
      // A small model does not by itself.
      response_format: { type: 'json_schema', json_schema: { name: 'call', schema: call } },
    });
    const made = answer.choices[0]?.message.tool_calls?.[0];
    assert.ok(made?.type === 'function');
    assert.deepEqual(
      [made.function.name, JSON.parse(made.function.arguments)],
      ['weather', { city: 'Bern' }],
    );
    assert.equal(answer.choices[0]?.finish_reason, 'tool_calls');
  });

  test('completes, whole and streamed', needs('completion'), async () => {
    const request = { model: find('completion'), prompt: 'Once', max_tokens: 8 };
    const whole = await client.completions.create({ ...request, echo: true });
    assert.match(whole.choices[0]?.text ?? '', /^Once/);
    let chunks = 0;
    for await (const _part of await client.completions.create({ ...request, stream: true })) chunks++;
    assert.ok(chunks > 2);
  });

  test('fills in before a suffix', needs('completion', 'insert'), async () => {
    const model = find('completion', 'insert');
    const answer = await client.completions.create({
      model,
      prompt: 'def f(x):',
      suffix: 'return y',
      max_tokens: 8,
    });
    assert.equal(answer.choices.length, 1);
  });

  test('embeds, in floats and base64, shortened or not', needs('embedding'), async () => {
    const request = { model: find('embedding'), input: ['a red house', 'tax law'] };
    const floats = await client.embeddings.create({ ...request, encoding_format: 'float' });
    const raw = await client.embeddings.create({ ...request, ...base64 });
    const text = raw.data[1]?.embedding as unknown as string;
    const bytes = Buffer.from(text, 'base64');
    const vector = Array.from(
      new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)),
    );
    const same = floats.data[1]?.embedding.map((value) => Math.fround(value));
    assert.deepEqual(vector, same);
    assert.ok(floats.usage.prompt_tokens > 1);
    const short = await client.embeddings.create({ ...request, dimensions: 8 });
    assert.deepEqual(
      short.data.map(({ embedding }) => embedding.length),
      [8, 8],
    );
  });

  test(
    'refuses a text that is too long to embed, and more dimensions than there are',
    needs('embedding'),
    async () => {
      const model = find('embedding');
      const long = client.embeddings.create({ model, input: 'word '.repeat(numCtx * 2) });
      await assert.rejects(long, { status: 400, code: 'upstream.context-length' });
      const wide = client.embeddings.create({ model, input: 'a', dimensions: 100_000 });
      await assert.rejects(wide, { status: 400, code: 'upstream.dimensions' });
    },
  );

  test('refuses a prompt that is too long instead of cutting it', needs('completion'), async () => {
    const content = 'word '.repeat(numCtx * 2);
    const asked = client.chat.completions.create({
      model: find('completion'),
      messages: [{ role: 'user', content }],
    });
    await assert.rejects(asked, (error: APIError) => {
      assert.deepEqual([error.status, error.code], [400, 'upstream.context-length']);
      assert.match(error.message, /raise num_ctx/);
      return true;
    });
  });

  test('says what a model cannot do', needs('embedding'), async () => {
    const asked = client.chat.completions.create({ model: find('embedding'), messages });
    await assert.rejects(asked, (error: APIError) => error.status === 400 || error.status === 404);
  });

  test('stops when the caller leaves: the next one does not wait', needs('completion'), async () => {
    const model = find('completion');
    const long = {
      model,
      messages: [{ role: 'user' as const, content: 'Tell me a very long story.' }],
      max_tokens: 1500,
    };
    const before = performance.now();
    for await (const _part of await client.chat.completions.create({ ...long, stream: true })) break;
    await client.chat.completions.create({ model, messages, max_tokens: 2 });
    const tookMs = performance.now() - before;
    const whole = performance.now();
    await client.chat.completions.create({ ...long, max_tokens: 300 });
    assert.ok(tookMs < performance.now() - whole, `${tookMs} ms`);
  });
});
