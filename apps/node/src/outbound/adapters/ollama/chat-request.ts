import type { RunFailure } from '@iop/domain';
import type { ExecutionSpec } from '@iop/runtime';
import { refuseUnsupported, type Think, toFormat, toThink, toTools } from './chat-extras.ts';
import { type OllamaMessage, toOllamaMessages } from './chat-messages.ts';
import { toOllamaOptions } from './chat-options.ts';
import { type Fields, isFields, ProblemList } from './problem-list.ts';

/** What the configuration adds to every request. */
export interface ChatSettings {
  /** Tokens of prompt and answer; 0: what Ollama has been told. */
  numCtx: number;
  /** "5m", seconds, 0, -1; empty: what Ollama has been told. */
  keepAlive: string;
  /** For callers that do not say; undefined: what the model does by itself. */
  think: Think | undefined;
}

export type ChatRequestOutcome =
  | { kind: 'request'; body: Uint8Array; textLength: number }
  | { kind: 'refused'; failure: RunFailure };

/** The request of a run as the body of `POST /api/chat`, or all that is wrong with it. */
export function toOllamaChat(spec: ExecutionSpec, settings: ChatSettings): ChatRequestOutcome {
  const text = new TextDecoder().decode(spec.body);
  if (spec.dialect === 'iop.prompt') {
    return encode(spec, settings, { messages: [{ role: 'user', content: text }] });
  }
  const body = parseJson(text);
  if (isFields(body)) return encode(spec, settings, body);
  const message = 'the request is not a JSON object';
  return {
    kind: 'refused',
    failure: { kind: 'invalid', code: 'request.invalid-json', message, details: {}, retryable: false },
  };
}

function encode({ target }: ExecutionSpec, settings: ChatSettings, body: Fields): ChatRequestOutcome {
  const problems = new ProblemList();
  refuseUnsupported(body, problems);
  const messages = toOllamaMessages(body.messages, problems);
  const request: Record<string, unknown> = { model: target, messages, stream: true };
  // O8: an error instead of an answer to half the question.
  request.truncate = false;
  request.shift = false;
  const tools = toTools(body, problems);
  if (tools.length > 0) request.tools = tools;
  const format = toFormat(body, problems);
  if (format !== undefined) request.format = format;
  const think = toThink(body, problems) ?? settings.think;
  if (think !== undefined) request.think = think;
  if (settings.keepAlive !== '') request.keep_alive = toKeepAlive(settings.keepAlive);
  const options = toOllamaOptions(body, problems);
  if (settings.numCtx > 0) options.num_ctx = settings.numCtx;
  if (Object.keys(options).length > 0) request.options = options;
  const failure = problems.toFailure();
  if (failure !== undefined) return { kind: 'refused', failure };
  return { kind: 'request', body: Buffer.from(JSON.stringify(request)), textLength: textLengthOf(messages) };
}

/** Ollama takes seconds as a number and durations as text. */
function toKeepAlive(keepAlive: string): number | string {
  return /^-?\d+$/.test(keepAlive) ? Number(keepAlive) : keepAlive;
}

/** For an estimate of tokens where Ollama gives none. */
function textLengthOf(messages: readonly OllamaMessage[]): number {
  return messages.reduce((length, { content }) => length + content.length, 0);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
