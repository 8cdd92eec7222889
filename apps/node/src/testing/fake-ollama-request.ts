/**
 * What Ollama would not take of a chat request, from the types that its documentation gives; undefined:
 * nothing. Only what an adapter could get wrong.
 */
export function requestProblem(body: Record<string, unknown>): string | undefined {
  if (typeof body.model !== 'string' || body.model === '') return 'model is required';
  if (!Array.isArray(body.messages)) return 'json: cannot unmarshal messages';
  if (body.stop !== undefined) return 'stop belongs into options';
  for (const message of body.messages) {
    const problem = messageProblem(message);
    if (problem !== undefined) return problem;
  }
  return undefined;
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
