import type { Dialect, ExecutionSpec } from '@iop/runtime';
import { type Asked, readPrompt } from './asked.ts';
import { readChat } from './asked-chat.ts';
import { readCompletion } from './asked-completion.ts';
import { readEmbeddings } from './asked-embeddings.ts';
import { readRaw } from './asked-raw.ts';
import { emptyScript, type MockScript, parseMockScript } from './mock-script.ts';

/** What a request asks of the mock, and the script that it plays. */
export interface MockRequest extends Omit<Asked, 'hasToolResult'> {
  script: MockScript;
}

export type ReadRequest = { kind: 'request'; request: MockRequest } | { kind: 'invalid'; message: string };

const scriptBlock = /<mock>([\s\S]*?)<\/mock>/;

const readers: Readonly<Record<Dialect, (spec: ExecutionSpec) => Asked | string>> = {
  'openai.chat': readChat,
  'openai.completions': readCompletion,
  'openai.embeddings': readEmbeddings,
  'openai.raw': readRaw,
  'iop.prompt': readPrompt,
};

/** @param targetScript of the configuration; plays unless the prompt carries one itself */
export function readMockRequest(spec: ExecutionSpec, targetScript: MockScript | undefined): ReadRequest {
  const read = readers[spec.dialect](spec);
  if (typeof read === 'string') return { kind: 'invalid', message: read };
  const { hasToolResult, ...asked } = read;
  const block = scriptBlock.exec(asked.prompt);
  const parsed = block === null ? undefined : parseMockScript(block[1] ?? '');
  if (parsed?.kind === 'invalid') return parsed;
  const played = parsed?.script ?? targetScript ?? emptyScript;
  const script = hasToolResult ? afterTools(played) : played;
  const prompt = withoutScript(asked.prompt);
  const choices = (script.choices ?? asked.choices) * asked.prompts;
  return { kind: 'request', request: { ...asked, script, prompt, choices } };
}

/** An agent's second question: its tools have answered, and now the model says what it makes of that. */
function afterTools(script: MockScript): MockScript {
  const { after_tools: text } = script;
  return text === undefined ? script : { ...script, tool_calls: [], text };
}

export function withoutScript(text: string): string {
  return text.replace(scriptBlock, '').trim();
}
