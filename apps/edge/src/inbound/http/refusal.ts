/** An answer that is an error, in the form that every OpenAI client reads. */
export interface Refusal {
  status: number;
  /** For people: what was tried, on what, what to do. */
  message: string;
  type: ErrorType;
  /** Path of the offending part of the request. */
  param?: string;
  /** For programs: an OpenAI code where there is one, else IOP's own dotted one. */
  code: string | null;
  retryAfterMs?: number;
  /** False: a repeat would run the work a second time, or is as hopeless as this one. */
  shouldRetry?: false;
  /** Further header fields, name and value alternating. */
  headers?: readonly string[];
  /** The connection ends with this answer: what follows on it would not be understood. */
  close?: true;
}

export type ErrorType =
  | 'invalid_request_error'
  | 'permission_error'
  | 'rate_limit_error'
  | 'timeout_error'
  | 'server_error'
  // the upstream's own word
  | (string & {});

export function encodeError(refusal: Refusal): string {
  const { message, type, param, code } = refusal;
  return JSON.stringify({ error: { message, type, param: param ?? null, code } });
}

/** Retry-After for everybody, retry-after-ms for the clients that know it; x-should-retry for the OpenAI ones. */
export function refusalHeaders(refusal: Refusal): string[] {
  const headers = [...(refusal.headers ?? [])];
  if (refusal.retryAfterMs !== undefined) {
    const retryAfterMs = Math.max(1, Math.ceil(refusal.retryAfterMs));
    headers.push(
      'retry-after',
      String(Math.ceil(retryAfterMs / 1000)),
      'retry-after-ms',
      String(retryAfterMs),
    );
  }
  if (refusal.shouldRetry === false) headers.push('x-should-retry', 'false');
  return headers;
}

export function invalidRequest(message: string, code: string | null, param?: string): Refusal {
  return { status: 400, message, type: 'invalid_request_error', code, ...(param !== undefined && { param }) };
}
