import type { ExecutionSpec } from '@iop/runtime';
import { emptyScript, type MockScript, parseMockScript } from './mock-script.ts';

/** What a request asks of the mock. */
export interface MockRequest {
  script: MockScript;
  /** The last user message without its script: what is echoed. */
  prompt: string;
  promptTokens: number;
  choices: number;
  /** Pieces of text at most; undefined: no bound. */
  maxTokens: number | undefined;
}

export type ReadRequest = { kind: 'request'; request: MockRequest } | { kind: 'invalid'; message: string };

const scriptBlock = /<mock>([\s\S]*?)<\/mock>/;

/** @param targetScript of the configuration; plays unless the prompt carries one itself */
export function readMockRequest(spec: ExecutionSpec, targetScript: MockScript | undefined): ReadRequest {
  const chat = readChat(spec);
  if (typeof chat === 'string') return { kind: 'invalid', message: chat };
  const block = scriptBlock.exec(chat.prompt);
  const parsed = block === null ? undefined : parseMockScript(block[1] ?? '');
  if (parsed?.kind === 'invalid') return parsed;
  const played = parsed?.script ?? targetScript ?? emptyScript;
  const script = chat.hasToolResult ? afterTools(played) : played;
  const prompt = chat.prompt.replace(scriptBlock, '').trim();
  return {
    kind: 'request',
    request: {
      script,
      prompt,
      promptTokens: chat.promptTokens,
      choices: script.choices ?? chat.choices,
      maxTokens: chat.maxTokens,
    },
  };
}

/** An agent's second question: its tools have answered, and now the model says what it makes of that. */
function afterTools(script: MockScript): MockScript {
  const { after_tools: text } = script;
  return text === undefined ? script : { ...script, tool_calls: [], text };
}

interface Chat extends Omit<MockRequest, 'script'> {
  /** The conversation ends with what a tool answered. */
  hasToolResult: boolean;
}

/** The reading, or what is wrong with the request. */
function readChat(spec: ExecutionSpec): Chat | string {
  const text = new TextDecoder().decode(spec.body);
  if (spec.dialect === 'iop.prompt') {
    const promptTokens = countWords(text);
    return { prompt: text, promptTokens, choices: 1, maxTokens: undefined, hasToolResult: false };
  }
  let body: Record<string, unknown>;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return `the request body is not JSON: ${(error as Error).message}`;
  }
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0)
    return 'messages: expected a list of at least one message';
  const texts = messages.map(textOf);
  const lastUser = messages.findLastIndex((message) => message?.role === 'user');
  return {
    prompt: texts[lastUser === -1 ? texts.length - 1 : lastUser] ?? '',
    hasToolResult: messages.at(-1)?.role === 'tool',
    promptTokens: texts.reduce((sum, one) => sum + countWords(one), 0),
    choices: toCount(body.n, 128) ?? 1,
    maxTokens: toCount(body.max_completion_tokens ?? body.max_tokens, 1_000_000),
  };
}

/** Content is a text, or a list of parts some of which are text. */
function textOf(message: { content?: unknown } | null): string {
  const content = message?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (typeof part?.text === 'string' ? part.text : '')).join('');
}

function toCount(value: unknown, max: number): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1
    ? Math.min(value, max)
    : undefined;
}

export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}
