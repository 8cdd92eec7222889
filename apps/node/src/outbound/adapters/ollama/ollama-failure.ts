import type { RunFailure } from '@iop/domain';
import { parseUpstreamError } from '../http-upstream/upstream-error.ts';

/** Ollama says nothing of when: its queue moves within seconds. */
const queueRetryAfterMs = 1000;

export interface FailurePlace {
  /** The server, for messages. */
  where: string;
  target: string;
  /** 0: what Ollama has been told. */
  numCtx: number;
}

/**
 * What Ollama means by a failure. Its errors are a status that varies between versions and a sentence,
 * so the sentence decides where it is known.
 */
export function explainFailure(failure: RunFailure, place: FailurePlace): RunFailure {
  if (failure.code === 'upstream.first-byte-timeout') return explainTimeout(failure);
  const { upstream } = failure;
  if (upstream === undefined) return failure;
  const said = saidBy(upstream.body);
  if (isTooLong(said)) return tooLong(said, place);
  if (upstream.status === 503 || /server busy|maximum pending requests/i.test(said))
    return queueFull(failure);
  if (upstream.status === 499 || /context canceled|request cancell?ed/i.test(said)) {
    return { ...failure, kind: 'unavailable', retryable: true };
  }
  if (/does not support/i.test(said)) {
    return { ...failure, kind: 'unsupported', code: 'upstream.unsupported', retryable: false };
  }
  return upstream.status === 404 ? modelMissing(failure, place) : failure;
}

function explainTimeout(failure: RunFailure): RunFailure {
  const hint = 'the model was still loading, reading the prompt or behind others; see load_timeout';
  return { ...failure, message: `${failure.message}: ${hint}` };
}

function isTooLong(said: string): boolean {
  return /exceeds?\b.{0,60}\bcontext|context (length|window|size) exceeded|prompt (is )?too long/i.test(said);
}

/** Without `upstream`: with 413 or 500, as some versions say it, a caller would ask again. */
function tooLong(said: string, { where, target, numCtx }: FailurePlace): RunFailure {
  const room = numCtx > 0 ? `${numCtx} tokens (num_ctx)` : 'as many tokens as its default says';
  const message = `the prompt is too long for ${target} at ${where}, which has ${room}: ${said}; shorten it or raise num_ctx of the adapter`;
  return { kind: 'invalid', code: 'upstream.context-length', message, details: {}, retryable: false };
}

function queueFull(failure: RunFailure): RunFailure {
  const upstream = failure.upstream && {
    ...failure.upstream,
    status: 503,
    retryAfterMs: failure.upstream.retryAfterMs ?? queueRetryAfterMs,
  };
  const full = { ...failure, kind: 'exhausted', code: 'upstream.queue-full', retryable: true } as const;
  return upstream === undefined ? full : { ...full, upstream };
}

function modelMissing(failure: RunFailure, { target }: FailurePlace): RunFailure {
  const message = `${failure.message}; on that machine: ollama pull ${target}`;
  return { ...failure, code: 'upstream.model-missing', message };
}

function saidBy(body: Uint8Array): string {
  const text = new TextDecoder().decode(body);
  try {
    return parseUpstreamError(JSON.parse(text))?.message ?? text;
  } catch {
    return text;
  }
}
