import type { OpenAI } from 'openai';

type Params = Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'stream'>;

/** A short answer that is the same every time: greedy, and without what earlier requests left in the cache. */
export function ask(model: string, extra: Partial<Params> = {}): Params {
  const steady: Record<string, unknown> = { cache_prompt: false };
  return { ...steady, ...base(model, 'Name three colours.'), max_tokens: 24, ...extra };
}

/** An answer that goes on until somebody stops it. */
export function askForever(model: string): Params {
  const endless: Record<string, unknown> = { ignore_eos: true };
  return { ...endless, ...base(model, 'Tell me a very long story.'), max_tokens: 1500 };
}

/** vLLM is bound to answer with a call of the tool; a llama.cpp with this model may not. */
export function askForTool(model: string): Params {
  const city = { type: 'string', maxLength: 20 };
  const parameters = { type: 'object', properties: { city }, required: ['city'] };
  return {
    ...ask(model, { messages: [{ role: 'user', content: 'What is the weather in Paris?' }] }),
    tools: [{ type: 'function', function: { name: 'get_weather', parameters } }],
    tool_choice: { type: 'function', function: { name: 'get_weather' } },
  };
}

/** Takes the engine seconds to read before the first token. */
export function askLong(model: string): Params {
  return { ...base(model, words(800)), max_tokens: 4 };
}

/** More than the engine's context holds. */
export function askTooLong(model: string): Params {
  return { ...base(model, words(6_000)), max_tokens: 4 };
}

function base(model: string, content: string): Params {
  return { model, messages: [{ role: 'user', content }], temperature: 0, seed: 7 };
}

/** Different every time, so that no cache helps. */
function words(count: number): string {
  const mark = Math.random().toString(36).slice(2);
  return `${mark} ${'word '.repeat(count)}`;
}
