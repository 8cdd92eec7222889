/**
 * What Ollama would not take of a request, from the types that its documentation gives; undefined:
 * nothing. Only what an adapter could get wrong.
 */
export function requestProblem(path: string, body: Record<string, unknown>): string | undefined {
  if (typeof body.model !== 'string' || body.model === '') return 'model is required';
  if (body.stop !== undefined) return 'stop belongs into options';
  if (path === '/api/generate') return generateProblem(body);
  if (path === '/api/embed') return embedProblem(body);
  if (!Array.isArray(body.messages)) return 'json: cannot unmarshal messages';
  for (const message of body.messages) {
    const problem = messageProblem(message);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function generateProblem({ prompt, suffix, raw }: Record<string, unknown>): string | undefined {
  // It would load the model and answer nothing.
  if (prompt === undefined || prompt === '') return 'this only loads the model';
  if (typeof prompt !== 'string') return 'json: cannot unmarshal prompt into type string';
  if (suffix !== undefined && typeof suffix !== 'string')
    return 'json: cannot unmarshal suffix into type string';
  return raw === undefined || typeof raw === 'boolean'
    ? undefined
    : 'json: cannot unmarshal raw into type bool';
}

function embedProblem({ input, dimensions }: Record<string, unknown>): string | undefined {
  const texts: unknown[] = Array.isArray(input) ? input : [input];
  if (texts.some((text) => typeof text !== 'string')) return 'invalid input type';
  const isCount = dimensions === undefined || Number.isInteger(dimensions);
  return isCount ? undefined : 'json: cannot unmarshal dimensions into type int';
}

function messageProblem(message: Record<string, unknown>): string | undefined {
  if (!['system', 'user', 'assistant', 'tool'].includes(String(message.role))) {
    return 'invalid message role';
  }
  if (typeof message.content !== 'string') return 'json: cannot unmarshal content into type string';
  const images = (message.images ?? []) as string[];
  if (images.some((image) => image.includes(':'))) return 'illegal base64 data at input byte 4';
  const calls = (message.tool_calls ?? []) as { function: { arguments: unknown } }[];
  if (calls.some((call) => typeof call.function.arguments !== 'object')) {
    return 'json: cannot unmarshal string into Go struct field .messages.tool_calls.function.arguments';
  }
  return undefined;
}
