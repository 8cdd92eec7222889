import {
  atLeast,
  checkModel,
  checkStreaming,
  isBoolean,
  isInteger,
  isString,
  optional,
} from '../http/field-checks.ts';
import type { Fields, Problem } from '../http/problem.ts';
import { checkPromptInput } from './prompt-input.ts';
import { parseRequest } from './request-fields.ts';
import type { RequestOutcome } from './run-shape.ts';

export function parseCompletionsRequest(bytes: Uint8Array): RequestOutcome {
  return parseRequest(bytes, findProblem);
}

function findProblem(body: Fields): Problem | undefined {
  return (
    checkModel(body.model) ??
    checkPrompt(body) ??
    checkStreaming(body) ??
    atLeast(body, 'n', 1) ??
    atLeast(body, 'best_of', 1) ??
    optional(body, 'echo', isBoolean) ??
    optional(body, 'suffix', isString) ??
    optional(body, 'max_tokens', isInteger)
  );
}

function checkPrompt({ prompt, prompt_embeds: embeds }: Fields): Problem | undefined {
  if (prompt !== undefined && prompt !== null) return checkPromptInput('prompt', prompt);
  // vLLM takes the prompt in this form too
  return embeds === undefined ? { kind: 'missing', path: 'prompt' } : undefined;
}
