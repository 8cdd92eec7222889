import type { ExecutionSpec } from '@iop/runtime';

/** What a request of any dialect asks of the mock, as far as it understands it. */
export interface Asked {
  /** What is echoed, the script that it may carry included. */
  prompt: string;
  promptTokens: number;
  /** Of each prompt. */
  choices: number;
  prompts: number;
  /** Pieces of text at most; undefined: no bound. */
  maxTokens: number | undefined;
  /** The conversation ends with what a tool answered. */
  hasToolResult: boolean;
  /** The answer begins with the prompt itself. */
  echo: boolean;
  /** Instead of a text. */
  embeddings: AskedEmbeddings | undefined;
}

export interface AskedEmbeddings {
  inputs: readonly string[];
  dimensions: number;
  isBase64: boolean;
}

/** What most requests do not ask for. */
export const plain: Omit<Asked, 'prompt' | 'promptTokens'> = {
  choices: 1,
  prompts: 1,
  maxTokens: undefined,
  hasToolResult: false,
  echo: false,
  embeddings: undefined,
};

export function readPrompt(spec: ExecutionSpec): Asked {
  const prompt = new TextDecoder().decode(spec.body);
  return { ...plain, prompt, promptTokens: countWords(prompt) };
}

/** The body as an object, or what is wrong with it. */
export function readBody(spec: ExecutionSpec): Record<string, unknown> | string {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(spec.body));
  } catch (error) {
    return `the request body is not JSON: ${(error as Error).message}`;
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : 'the request body is not a JSON object';
}

export function toCount(value: unknown, max: number): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1
    ? Math.min(value, max)
    : undefined;
}

export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

/** Texts, or tokens as the text of their numbers: a string, or an array of strings, tokens or token arrays. */
export function readTexts(value: unknown): string[] | undefined {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value) || value.length === 0) return undefined;
  if (value.every(Number.isInteger)) return [value.join(' ')];
  const texts = value.map((entry) => (Array.isArray(entry) ? entry.join(' ') : entry));
  return texts.every((text) => typeof text === 'string') ? texts : undefined;
}
