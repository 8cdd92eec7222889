import type { RunFailure } from '@iop/domain';
import type { FactName } from '@iop/runtime';
import { parseUpstreamError } from '../http-upstream/upstream-error.ts';
import { fault } from '../http-upstream/upstream-fault.ts';

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
  const message = unwrap(failure.message, upstream.body, said);
  // The message has all that was said: without a body callers see it, hints included.
  return explainSaid({ ...failure, message, upstream: { ...upstream, body: noBytes } }, said, place);
}

const noBytes = new Uint8Array();

function explainSaid(failure: RunFailure, said: string, place: FailurePlace): RunFailure {
  const status = failure.upstream?.status;
  if (isTooLong(said)) return tooLong(said, place);
  if (status === 503 || /server busy|maximum pending requests/i.test(said)) return queueFull(failure);
  if (status === 499 || /context canceled|request cancell?ed/i.test(said)) {
    return { ...failure, kind: 'unavailable', retryable: true };
  }
  if (/does not support/i.test(said)) return unsupported(failure);
  return status === 404 ? modelMissing(failure, place) : failure;
}

/** Without `upstream`: some versions say it with 500. */
function unsupported({ message, details }: RunFailure): RunFailure {
  return { kind: 'unsupported', code: 'upstream.unsupported', message, details, retryable: false };
}

/** What a model was said not to be able to do. */
export function factDenied({ code, message }: RunFailure): FactName | undefined {
  if (code !== 'upstream.unsupported') return undefined;
  return deniedFacts.find(([words]) => words.test(message))?.[1];
}

const deniedFacts: readonly [RegExp, FactName][] = [
  [/not support tools/i, 'tools'],
  [/not support thinking/i, 'reasoning'],
  [/not support (multimodal|vision|image)/i, 'images'],
  [/not support embed/i, 'embeddings'],
  [/not support chat/i, 'chat'],
  [/not support (generate|completion)/i, 'completions'],
];

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

/** What its engine said is JSON in the text of an error in some versions. */
function saidBy(body: Uint8Array): string {
  const text = new TextDecoder().decode(body);
  const said = messageIn(text) ?? text;
  return messageIn(said) ?? said;
}

/** `message` with what was said in place of the JSON around it. */
function unwrap(message: string, body: Uint8Array, said: string): string {
  const wrapped = messageIn(new TextDecoder().decode(body));
  return wrapped === undefined ? message : message.replace(wrapped, () => said);
}

function messageIn(text: string): string | undefined {
  try {
    return parseUpstreamError(JSON.parse(text))?.message;
  } catch {
    return undefined;
  }
}

/** @param what it sent: `a line that …` */
export function malformed(where: string, what: string): RunFailure {
  return fault('unavailable', 'upstream.malformed', `${where} sent ${what}`);
}

export function tooLarge(where: string, what: 'line' | 'answer', maxBytes: number): RunFailure {
  const message = `${where} sent ${what === 'line' ? 'a line' : 'an answer'} of more than ${maxBytes / 1024 / 1024} MiB without an end`;
  return { ...fault('unavailable', `upstream.${what}-too-large`, message), retryable: false };
}

/** Ollama shortens vectors where its version and the model can, and says nothing where it does not. */
export function dimensionsDiffer(
  where: string,
  asked: number | undefined,
  given: number | undefined,
): RunFailure {
  const message = `${where} gave vectors of ${given} numbers where ${asked} were asked for (dimensions)`;
  return {
    kind: 'invalid',
    code: 'upstream.dimensions',
    message,
    details: { param: 'dimensions' },
    retryable: false,
  };
}
