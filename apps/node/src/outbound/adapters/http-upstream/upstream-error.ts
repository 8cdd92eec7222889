import type { ErrorKind, RunFailure } from '@iop/domain';

/** What an upstream said went wrong, whichever shape it used. */
export interface UpstreamError {
  message: string;
  type: string;
  code: string;
  /** A code that is an HTTP status, as newer vLLM gives it; 0 if it is none. */
  status: number;
}

/** At most so much of an upstream's answer is kept for a failure. */
export const keptBodyBytes = 64 * 1024;

/**
 * Reads `{error:{…}}`, `{error:"…"}`, `{object:"error",…}`, `{detail:…}` and `{message:…}`;
 * undefined for anything else.
 */
export function parseUpstreamError(body: unknown): UpstreamError | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const fields = body as Record<string, unknown>;
  if (typeof fields.error === 'string') return { message: fields.error, type: '', code: '', status: 0 };
  const inner = typeof fields.error === 'object' && fields.error !== null ? fields.error : body;
  const { message, type, code, detail } = inner as Record<string, unknown>;
  const text = toText(message) ?? toText(detail);
  if (text === undefined && inner === body) return undefined;
  const status = typeof code === 'number' && code >= 400 && code <= 599 ? code : 0;
  return {
    message: text ?? 'no message',
    type: toText(type) ?? '',
    code: toText(code) ?? '',
    status,
  };
}

export interface AnsweredError {
  /** The server, for people. */
  where: string;
  status: number;
  body: Uint8Array;
  retryAfterMs?: number;
}

/** An answer with a status that is not 2xx. 429 and 5xx may do better elsewhere or later. */
export function failureOfStatus(answer: AnsweredError): RunFailure {
  const said = parseUpstreamError(parseJson(answer.body));
  const message = said?.message ?? excerpt(answer.body);
  const upstream: RunFailure['upstream'] = {
    status: answer.status,
    body: answer.body.subarray(0, keptBodyBytes),
  };
  if (answer.retryAfterMs !== undefined) upstream.retryAfterMs = answer.retryAfterMs;
  return {
    ...verdictOf(answer.status),
    code: 'upstream.status',
    message: `${answer.where} answered ${answer.status}${message === '' ? '' : `: ${message}`}`,
    details: { status: answer.status },
    upstream,
  };
}

/** An error object where an answer was expected: in a 200, or in mid-stream. */
export function failureOfErrorObject(where: string, body: unknown, bytes: Uint8Array): RunFailure {
  const said = parseUpstreamError(body) ?? { message: 'no message', type: '', code: '', status: 0 };
  const status = said.status === 0 ? 502 : said.status;
  return {
    ...verdictOf(status),
    code: 'upstream.error',
    message: `${where} reported an error: ${said.message}`,
    details: said.type === '' ? {} : { type: said.type },
    upstream: { status, body: Buffer.from(bytes.subarray(0, keptBodyBytes)) },
  };
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function parseRetryAfter(headers: Headers, wallMs: number): number | undefined {
  const inMs = Number(one(headers['retry-after-ms']) ?? Number.NaN);
  if (Number.isFinite(inMs) && inMs >= 0) return Math.round(inMs);
  const text = one(headers['retry-after']);
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text.trim())) return Math.round(Number(text) * 1000);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - wallMs);
}

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function verdictOf(status: number): { kind: ErrorKind; retryable: boolean } {
  if (status === 429) return { kind: 'exhausted', retryable: true };
  if (status === 408 || status === 504) return { kind: 'timeout', retryable: true };
  if (status === 501) return { kind: 'unsupported', retryable: false };
  if (status >= 500) return { kind: 'unavailable', retryable: true };
  // Its own key, not the caller's: the Node is set up wrongly, and another one may not be.
  if (status === 401 || status === 403) return { kind: 'unavailable', retryable: true };
  if (status === 404) return { kind: 'not-found', retryable: false };
  if (status >= 400) return { kind: 'invalid', retryable: false };
  // 1xx, 3xx and odd 2xx: this is no such server, or it wants us somewhere else.
  return { kind: 'unavailable', retryable: false };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** The beginning of a body as one line for a message. */
export function excerpt(bytes: Uint8Array, limit = 200): string {
  const text = new TextDecoder()
    .decode(bytes.subarray(0, limit * 4))
    .replace(/\s+/g, ' ')
    .trim();
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return value === null || value === undefined ? undefined : JSON.stringify(value);
}
