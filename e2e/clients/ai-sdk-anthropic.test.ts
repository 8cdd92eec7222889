// Vercel's AI SDK with its provider for Anthropic: a second reader of the messages dialect, with schemas of its own.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type AnthropicProvider, createAnthropic } from '@ai-sdk/anthropic';
import { APICallError, generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import { openScene, type Scene } from '../harness/scene.ts';

const limit = { timeout: 60_000 };

/** The mock plays what stands in the prompt. */
function play(script: object): string {
  return `<mock>${JSON.stringify(script)}</mock>`;
}

describe("the AI SDK's Anthropic provider", { timeout: 300_000 }, () => {
  let scene: Scene;
  let provider: AnthropicProvider;
  before(async () => {
    scene = await openScene();
    const { url, apiKey } = scene.edge;
    provider = createAnthropic({ baseURL: `${url}/v1`, apiKey });
  });
  after(() => scene?.world.close());

  const model = () => provider('mock/echo');

  test('gets text, thoughts and usage, whole and streamed', limit, async () => {
    const prompt = play({ text: 'one two three', reasoning: 'so many', pace_ms: 2 });
    const whole = await generateText({ model: model(), prompt, maxOutputTokens: 500 });
    assert.deepEqual(
      [whole.text, whole.reasoningText, whole.finishReason],
      ['one two three', 'so many', 'stop'],
    );
    const answer = streamText({ model: model(), prompt, maxOutputTokens: 500 });
    let text = '';
    for await (const piece of answer.textStream) text += piece;
    assert.deepEqual([text, await answer.reasoningText], ['one two three', 'so many']);
    const usage = await answer.usage;
    assert.deepEqual(
      [usage.inputTokens, usage.outputTokens],
      [whole.usage.inputTokens, whole.usage.outputTokens],
    );
  });

  test('calls a tool and sends its result back, until the turn ends', limit, async () => {
    const asked: string[] = [];
    const weather = tool({
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        asked.push(city);
        return 'sunny';
      },
    });
    const call = { name: 'weather', arguments: { city: 'Zürich' }, pieces: 5 };
    const answer = streamText({
      model: model(),
      maxOutputTokens: 500,
      prompt: play({ reasoning: 'hm', tool_calls: [call], after_tools: 'It is sunny.' }),
      tools: { weather },
      stopWhen: stepCountIs(3),
    });
    assert.equal(await answer.text, 'It is sunny.');
    assert.deepEqual(asked, ['Zürich']);
    const reasons = (await answer.steps).map(({ finishReason }) => finishReason);
    assert.deepEqual(reasons, ['tool-calls', 'stop']);
  });

  test('throws when a stream breaks: a half answer never looks whole', limit, async () => {
    const problems: unknown[] = [];
    const prompt = play({ text: 'one two three four', cut: { at: 2 } });
    const answer = streamText({
      model: model(),
      prompt,
      maxOutputTokens: 500,
      onError: ({ error }) => void problems.push(error),
    });
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
