// Vercel's AI SDK with its provider for any server of the OpenAI dialect: what most agents in TypeScript are built on.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, embedMany, generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import { openScene, type Scene } from '../harness/scene.ts';

const limit = { timeout: 60_000 };

/** The mock plays what stands in the prompt. */
function play(script: object): string {
  return `<mock>${JSON.stringify(script)}</mock>`;
}

describe('the AI SDK', { timeout: 300_000 }, () => {
  let scene: Scene;
  let provider: ReturnType<typeof createOpenAICompatible>;
  before(async () => {
    scene = await openScene();
    const { url, apiKey } = scene.edge;
    provider = createOpenAICompatible({ name: 'iop', baseURL: `${url}/v1`, apiKey, includeUsage: true });
  });
  after(() => scene?.world.close());

  const model = () => provider('mock/echo');

  test('chats', limit, async () => {
    const answer = await generateText({ model: model(), prompt: 'hello you' });
    assert.equal(answer.text, 'hello you');
    assert.equal(answer.finishReason, 'stop');
    assert.deepEqual([answer.usage.inputTokens, answer.usage.outputTokens], [2, 2]);
  });

  test('streams text, reasoning and usage', limit, async () => {
    const prompt = play({ text: 'one two three', reasoning: 'so many', pace_ms: 2 });
    const answer = streamText({ model: model(), prompt });
    let text = '';
    for await (const piece of answer.textStream) text += piece;
    assert.equal(text, 'one two three');
    assert.equal(await answer.reasoningText, 'so many');
    assert.ok(((await answer.usage).outputTokens ?? 0) > 0);
  });

  test('calls a tool that came in pieces, and sends its result back', limit, async () => {
    const asked: string[] = [];
    const weather = tool({
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        asked.push(city);
        return 'sunny';
      },
    });
    const answer = streamText({
      model: model(),
      prompt: play({ tool_calls: [{ name: 'weather', arguments: { city: 'Zürich' }, pieces: 5 }] }),
      tools: { weather },
      stopWhen: stepCountIs(1),
    });
    const [result] = await answer.toolResults;
    assert.deepEqual(asked, ['Zürich']);
    assert.equal(result?.output, 'sunny');
    assert.equal(await answer.finishReason, 'tool-calls');
  });

  test('embeds', limit, async () => {
    const embedded = await embedMany({
      model: provider.embeddingModel('mock/echo'),
      values: ['red', 'green', 'red'],
    });
    const [red, green, again] = embedded.embeddings;
    assert.ok((red?.length ?? 0) > 0);
    assert.deepEqual(again, red);
    assert.notDeepEqual(green, red);
  });

  test('throws when a stream breaks: a half answer never looks whole', limit, async () => {
    const problems: unknown[] = [];
    const prompt = play({ text: 'one two three four', cut: { at: 2 } });
    const answer = streamText({ model: model(), prompt, onError: ({ error }) => void problems.push(error) });
    let reason: string | undefined;
    for await (const part of answer.fullStream) if (part.type === 'finish') reason = part.finishReason;
    assert.equal(problems.length, 1);
    assert.notEqual(reason, 'stop');
  });

  test('gets the status of a refusal', limit, async () => {
    const asking = generateText({ model: provider('nobody'), prompt: 'hi', maxRetries: 0 });
    await assert.rejects(asking, (error) => APICallError.isInstance(error) && error.statusCode === 404);
  });
});
