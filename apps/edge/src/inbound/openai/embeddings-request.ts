import { atLeast, checkModel, isString, optional } from '../http/field-checks.ts';
import type { Fields, Problem } from '../http/problem.ts';
import { checkPromptInput } from './prompt-input.ts';
import { parseRequest } from './request-fields.ts';
import type { RequestOutcome } from './run-shape.ts';

/** Never a stream, whatever the request says: no server has one. */
export function parseEmbeddingsRequest(bytes: Uint8Array): RequestOutcome {
  const parsed = parseRequest(bytes, findProblem);
  if (parsed.kind === 'refused') return parsed;
  return { kind: 'request', request: { ...parsed.request, stream: false, includeUsage: false } };
}

function findProblem(body: Fields): Problem | undefined {
  return (
    checkModel(body.model) ?? checkInput(body) ?? checkEncodingFormat(body) ?? atLeast(body, 'dimensions', 1)
  );
}

function checkInput({ input, messages }: Fields): Problem | undefined {
  if (input !== undefined && input !== null) return checkPromptInput('input', input);
  // vLLM embeds a chat, images included, in this form
  return Array.isArray(messages) ? undefined : { kind: 'missing', path: 'input' };
}

/** Others (bytes) would not be the JSON that an answer of this path is. */
function checkEncodingFormat(body: Fields): Problem | undefined {
  const path = 'encoding_format';
  const problem = optional(body, path, isString);
  const format = body[path];
  if (problem !== undefined || typeof format !== 'string' || formats.has(format)) return problem;
  return { kind: 'value', path, code: 'invalid_value', rule: "must be 'float' or 'base64'" };
}

const formats: ReadonlySet<string> = new Set(['float', 'base64']);
