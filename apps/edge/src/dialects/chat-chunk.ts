import type { FinishReason } from '@iop/domain';
import type { AnswerError, AnswerPart, AnswerUsage } from './answer-part.ts';
import type { ToolCallBook } from './tool-call-book.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The parts of one `chat.completion.chunk`. */
export function readChunk(chunk: Fields, calls: ToolCallBook): AnswerPart[] {
  const parts: AnswerPart[] = [];
  const choice = firstChoice(chunk.choices);
  // a server that was told not to stream says `message`
  const delta = choice?.delta ?? choice?.message;
  if (isFields(delta)) readDelta(delta, logprobsOf(choice), { parts, calls });
  if (typeof choice?.finish_reason === 'string') {
    parts.push(...calls.finish(), finishOf(choice, choice.finish_reason));
  }
  const usage = toAnswerUsage(chunk.usage);
  if (usage !== undefined) parts.push({ kind: 'usage', usage });
  return parts;
}

interface Reading {
  parts: AnswerPart[];
  calls: ToolCallBook;
}

function readDelta(delta: Fields, logprobs: readonly unknown[], { parts, calls }: Reading): void {
  const reasoning = textOf(delta.reasoning) || textOf(delta.reasoning_content);
  if (reasoning !== '') parts.push({ kind: 'reasoning', text: reasoning });
  const text = textOf(delta.content);
  if (text !== '') parts.push({ kind: 'text', text, ...(logprobs.length > 0 && { logprobs }) });
  const refusal = textOf(delta.refusal);
  if (refusal !== '') parts.push({ kind: 'refusal', text: refusal });
  if (!Array.isArray(delta.tool_calls)) return;
  for (const call of delta.tool_calls) if (isFields(call)) parts.push(...readCall(call, calls));
}

function readCall(call: Fields, calls: ToolCallBook): AnswerPart[] {
  const called = isFields(call.function) ? call.function : {};
  const { arguments: given } = called;
  return calls.add({
    index: typeof call.index === 'number' ? call.index : undefined,
    id: textOf(call.id),
    name: textOf(called.name),
    // some servers give an object, which is what the text would have said
    json: isFields(given) ? JSON.stringify(given) : textOf(given),
  });
}

/** Only the first choice is an answer here; a chunk of another one has nothing to say. */
function firstChoice(choices: unknown): Fields | undefined {
  if (!Array.isArray(choices)) return undefined;
  return choices.find((choice) => isFields(choice) && (choice.index ?? 0) === 0);
}

function logprobsOf(choice: Fields | undefined): readonly unknown[] {
  const logprobs = choice?.logprobs;
  return isFields(logprobs) && Array.isArray(logprobs.content) ? logprobs.content : [];
}

const finishes: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
};

/** vLLM says `stop_reason`, SGLang `matched_stop`; a number is a token of the model's own. */
function finishOf(choice: Fields, word: string): AnswerPart {
  const finish = toFinish(word);
  const stopSequence = textOf(choice.stop_reason) || textOf(choice.matched_stop);
  return { kind: 'finish', finish, ...(finish === 'stop' && stopSequence !== '' && { stopSequence }) };
}

function toFinish(word: string): FinishReason {
  return finishes[word] ?? 'other';
}

export function toAnswerUsage(usage: unknown): AnswerUsage | undefined {
  if (!isFields(usage)) return undefined;
  const { prompt_tokens: input, completion_tokens: output, estimated } = usage;
  if (typeof input !== 'number' && typeof output !== 'number') return undefined;
  return {
    inputTokens: countOf(input),
    cachedTokens: countIn(usage.prompt_tokens_details, 'cached_tokens'),
    outputTokens: countOf(output),
    reasoningTokens: countIn(usage.completion_tokens_details, 'reasoning_tokens'),
    estimated: estimated === true,
  };
}

/** What is said in a stream instead of a chunk; undefined: it is a chunk. */
export function errorIn(chunk: Fields, name: string): AnswerError | undefined {
  if (isFields(chunk.error)) return toError(chunk.error);
  if (typeof chunk.error === 'string') return toError({ message: chunk.error });
  if (name === 'error' || chunk.object === 'error') return toError(chunk);
  return undefined;
}

function toError({ message, type, code }: Fields): AnswerError {
  const words = textOf(message) || 'The upstream reported an error in its stream.';
  const said = typeof code === 'number' ? String(code) : textOf(code);
  return { message: words, type: textOf(type), code: said };
}

/** A text, or the texts of its parts. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return value.map((part) => (isFields(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

function countIn(details: unknown, name: string): number {
  return isFields(details) ? countOf(details[name]) : 0;
}

function countOf(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? Math.trunc(value) : 0;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
