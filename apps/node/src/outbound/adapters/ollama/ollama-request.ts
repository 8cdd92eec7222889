import type { RunFailure } from '@iop/domain';
import type { Think } from './chat-extras.ts';
import { toOllamaOptions } from './chat-options.ts';
import { type Fields, isFields, ProblemList } from './problem-list.ts';

/** What the configuration adds to every request. */
export interface RequestSettings {
  /** Tokens of prompt and answer; 0: what Ollama has been told. */
  numCtx: number;
  /** "5m", seconds, 0, -1; empty: what Ollama has been told. */
  keepAlive: string;
  /** For callers that do not say; undefined: what the model does by itself. */
  think: Think | undefined;
  /** Whether the model can think; undefined: not known. */
  thinks?: boolean | undefined;
}

export type RequestOutcome =
  | { kind: 'request'; body: Uint8Array; textLength: number }
  | { kind: 'refused'; failure: RunFailure };

/** Fills in what a dialect asks of Ollama; what cannot be asked goes into `problems`. */
export type Translate = (body: Fields, problems: ProblemList) => Translation;

export interface Translation {
  /** In Ollama's words, without model, options and what is configured. */
  fields: Record<string, unknown>;
  /** Of the prompt, in UTF-16 units: for an estimate of tokens where Ollama gives none. */
  textLength: number;
}

export interface RequestInit {
  bytes: Uint8Array;
  target: string;
  settings: RequestSettings;
}

/** A body of the door as one of Ollama's, or all that is wrong with it. */
export function translateRequest(init: RequestInit, translate: Translate): RequestOutcome {
  const body = parseJson(new TextDecoder().decode(init.bytes));
  return isFields(body) ? encodeRequest(body, init, translate) : notJson;
}

export function encodeRequest(
  body: Fields,
  { target, settings }: Omit<RequestInit, 'bytes'>,
  translate: Translate,
): RequestOutcome {
  const problems = new ProblemList();
  const { fields, textLength } = translate(body, problems);
  const options = toOllamaOptions(body, problems);
  // O11: after what the caller says.
  if (settings.numCtx > 0) options.num_ctx = settings.numCtx;
  const failure = problems.toFailure();
  if (failure !== undefined) return { kind: 'refused', failure };
  const request: Record<string, unknown> = { model: target, ...fields };
  if (settings.keepAlive !== '') request.keep_alive = toKeepAlive(settings.keepAlive);
  if (Object.keys(options).length > 0) request.options = options;
  return { kind: 'request', body: Buffer.from(JSON.stringify(request)), textLength };
}

const notJson: RequestOutcome = {
  kind: 'refused',
  failure: {
    kind: 'invalid',
    code: 'request.invalid-json',
    message: 'the request is not a JSON object',
    details: {},
    retryable: false,
  },
};

/** Ollama takes seconds as a number and durations as text. */
function toKeepAlive(keepAlive: string): number | string {
  return /^-?\d+$/.test(keepAlive) ? Number(keepAlive) : keepAlive;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
