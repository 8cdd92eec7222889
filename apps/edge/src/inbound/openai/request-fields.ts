import { parseJsonBody } from '../http/json-body.ts';
import { type Fields, isObject, type Problem, toRefusal } from '../http/problem.ts';
import type { RequestOutcome, RunRequest } from './run-shape.ts';

/** A JSON request in which `findProblem` finds nothing wrong. */
export function parseRequest(
  bytes: Uint8Array,
  findProblem: (body: Fields) => Problem | undefined,
): RequestOutcome {
  const body = parseJsonBody(bytes);
  if (body.kind === 'refused') return body;
  const problem = findProblem(body.fields);
  if (problem !== undefined) return { kind: 'refused', refusal: toRefusal(problem) };
  return { kind: 'request', request: read(body.fields) };
}

function read({ model, stream, stream_options: options }: Fields): RunRequest {
  const includeUsage = isObject(options) && options.include_usage === true;
  return { model: String(model), stream: stream === true, includeUsage };
}
