// LangChain's client for OpenAI, pointed at the Edge.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AIMessageChunk, HumanMessage, type UsageMetadata } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { z } from 'zod';
import { openScene, type Scene } from '../harness/scene.ts';

const limit = { timeout: 60_000 };

/** Its own types lose it on the way. */
function usageOf(message: object): UsageMetadata | undefined {
  return (message as { usage_metadata?: UsageMetadata }).usage_metadata;
}

describe('the LangChain client', { timeout: 300_000 }, () => {
  let scene: Scene;
  let configuration: { baseURL: string };
  let apiKey: string;
  before(async () => {
    scene = await openScene();
    configuration = { baseURL: `${scene.edge.url}/v1` };
    apiKey = scene.edge.apiKey;
  });
  after(() => scene?.world.close());

  const chat = () => new ChatOpenAI({ model: 'mock/echo', apiKey, configuration, maxRetries: 0 });

  test('chats', limit, async () => {
    const answer = await chat().invoke('hello you');
    assert.equal(answer.content, 'hello you');
    assert.equal(usageOf(answer)?.total_tokens, 4);
  });

  test('streams, with usage at the end', limit, async () => {
    let whole = new AIMessageChunk('');
    const script = JSON.stringify({ text: 'one two three', pace_ms: 2 });
    for await (const chunk of await chat().stream(`<mock>${script}</mock>`)) whole = whole.concat(chunk);
    assert.equal(whole.content, 'one two three');
    assert.ok((usageOf(whole)?.output_tokens ?? 0) > 0);
  });

  test('binds tools and reads a call that came in pieces', limit, async () => {
    const weather = tool(async () => 'sunny', {
      name: 'weather',
      description: 'Tells the weather.',
      schema: z.object({ city: z.string() }),
    });
    const call = { name: 'weather', arguments: { city: 'Zürich' }, pieces: 5 };
    const script = JSON.stringify({ tool_calls: [call] });
    const bound = chat().bindTools([weather]);
    let whole = new AIMessageChunk('');
    for await (const chunk of await bound.stream([new HumanMessage(`<mock>${script}</mock>`)])) {
      whole = whole.concat(chunk);
    }
    assert.deepEqual(
      whole.tool_calls?.map(({ name, args }) => ({ name, args })),
      [{ name: 'weather', args: { city: 'Zürich' } }],
    );
  });

  test('embeds; it asks for base64 by itself', limit, async () => {
    const embeddings = new OpenAIEmbeddings({ model: 'mock/echo', apiKey, configuration, maxRetries: 0 });
    const [red, again] = await embeddings.embedDocuments(['red', 'red']);
    assert.ok((red?.length ?? 0) > 0);
    assert.deepEqual(again, red);
  });

  test('throws when a stream breaks: a half answer never looks whole', limit, async () => {
    const script = JSON.stringify({ text: 'one two three four', cut: { at: 2 } });
    const reading = async () => {
      for await (const _chunk of await chat().stream(`<mock>${script}</mock>`));
    };
    await assert.rejects(reading);
  });
});
