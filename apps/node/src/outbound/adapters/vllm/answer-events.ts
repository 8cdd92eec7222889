import { type Fields, isFields } from './choice-assembly.ts';

/** Longer texts are told in several events, as every reader bounds what one may hold. */
const maxTextLength = 16 * 1024;

/**
 * The events of a stream that say what a whole answer says, without `[DONE]`: for each choice its role, its
 * texts, each call of a tool, its finish reason; at last usage, if it is asked for.
 */
export function* answerEvents(answer: Fields, includeUsage: boolean): Generator<Uint8Array> {
  const { choices, usage, object, id, created, model, system_fingerprint, ...rest } = answer;
  const isChat = object !== 'text_completion';
  const chunkObject = isChat ? 'chat.completion.chunk' : object;
  const head = { id, object: chunkObject, created, model, system_fingerprint };
  const list = Array.isArray(choices) ? choices.filter(isFields) : [];
  for (const [place, { index = place, ...choice }] of list.entries()) {
    for (const part of isChat ? chatParts(choice) : textParts(choice)) {
      const isLast = part.finish_reason !== null && place === list.length - 1;
      yield toEvent({ ...head, ...(isLast && rest), choices: [{ index, ...part }] });
    }
  }
  if (includeUsage && isFields(usage)) yield toEvent({ ...head, choices: [], usage });
}

function* chatParts({
  message,
  logprobs,
  finish_reason: finish,
  index: _,
  ...rest
}: Fields): Generator<Fields> {
  const said = isFields(message) ? message : {};
  const { role = 'assistant', content, tool_calls: calls, reasoning, reasoning_content, ...others } = said;
  const part = (delta: Fields, probs: unknown = null) => ({ delta, logprobs: probs, finish_reason: null });
  yield part({ role, content: '' });
  for (const [key, text] of Object.entries({ reasoning, reasoning_content })) {
    for (const piece of textPieces(text)) yield part({ [key]: piece });
  }
  const kept = Object.entries(others).filter(([, value]) => value !== null && value !== undefined);
  if (kept.length > 0) yield part(Object.fromEntries(kept));
  let probs = logprobs ?? null;
  for (const piece of textPieces(content)) {
    yield part({ content: piece }, probs);
    probs = null;
  }
  const list = Array.isArray(calls) ? calls.filter(isFields) : [];
  for (const [index, call] of list.entries()) yield part({ tool_calls: [{ ...call, index }] });
  yield { delta: {}, logprobs: probs, finish_reason: finish ?? 'stop', ...rest };
}

function* textParts({ text, logprobs, finish_reason: finish, ...rest }: Fields): Generator<Fields> {
  let probs = logprobs ?? null;
  for (const piece of textPieces(text)) {
    yield { text: piece, logprobs: probs, finish_reason: null };
    probs = null;
  }
  yield { text: '', logprobs: probs, finish_reason: finish ?? 'stop', ...rest };
}

function* textPieces(text: unknown): Generator<string> {
  if (typeof text !== 'string') return;
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + maxTextLength);
    // Not between the two halves of one character.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] as string)) end++;
    yield text.slice(at, end);
    at = end;
  }
}

function toEvent(chunk: Fields): Uint8Array {
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
}
