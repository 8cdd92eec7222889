import type { Clock, RunEnd } from '@iop/domain';
import type { Adapter, Capabilities, Dialect, EventSink, ExecutionSpec } from '@iop/runtime';
import type { Answer, Settle } from '../http-upstream/answer.ts';
import { ErrorAnswer } from '../http-upstream/error-answer.ts';
import type { HostGuard } from '../http-upstream/host-guard.ts';
import { requestHeaders } from '../http-upstream/request-headers.ts';
import { SilenceWatch } from '../http-upstream/silence-watch.ts';
import { UpstreamCall } from '../http-upstream/upstream-call.ts';
import { type Headers, one, parseRetryAfter } from '../http-upstream/upstream-error.ts';
import { fault } from '../http-upstream/upstream-fault.ts';
import { UpstreamPool } from '../http-upstream/upstream-pool.ts';
import { JsonAnswer } from './json-answer.ts';
import { ModelDiscovery } from './model-discovery.ts';
import { PromptSink } from './prompt-sink.ts';
import { spliceRequest } from './request-splice.ts';
import { StreamAnswer } from './stream-answer.ts';

export interface VllmOptions {
  name: string;
  /** Up to and including /v1, without a slash at the end. */
  baseUrl: string;
  /** Sent as a bearer token; empty: none. */
  apiKey: string;
  connectTimeoutMs: number;
  firstByteTimeoutMs: number;
  idleTimeoutMs: number;
  targets: readonly string[];
}

export interface VllmDeps {
  clock: Clock;
  hosts: HostGuard;
}

const paths: Readonly<Record<Exclude<Dialect, 'openai.raw'>, string>> = {
  'openai.chat': '/chat/completions',
  'openai.completions': '/completions',
  'openai.embeddings': '/embeddings',
  'iop.prompt': '/chat/completions',
};

/**
 * Any server of the OpenAI dialect: vLLM, llama.cpp, SGLang, LM Studio … The caller's bytes go up and
 * the server's bytes come down as they are; see request-splice for the two values that are set, and
 * stream-tap for what is withheld.
 */
export function createVllmAdapter(options: VllmOptions, deps: VllmDeps): Adapter {
  return new VllmAdapter(options, deps);
}

class VllmAdapter implements Adapter {
  readonly name: string;
  readonly kind = 'vllm';
  readonly retry = 'before-content';
  readonly sessions = 'portable';
  readonly dialects = ['openai.chat', 'openai.completions', 'openai.embeddings', 'iop.prompt'] as const;
  readonly #clock: Clock;
  readonly #where: string;
  readonly #prefix: string;
  readonly #headers: readonly string[];
  readonly #pool: UpstreamPool;
  readonly #watch: SilenceWatch;
  readonly #discovery: ModelDiscovery;

  constructor(options: VllmOptions, deps: VllmDeps) {
    const url = new URL(options.baseUrl);
    this.name = options.name;
    this.#clock = deps.clock;
    this.#where = `${options.name} at ${url.host}`;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#headers = requestHeaders(options.apiKey);
    const connector = deps.hosts.connector(options.connectTimeoutMs);
    this.#pool = new UpstreamPool({ origin: url.origin, connector });
    this.#watch = new SilenceWatch(deps.clock, options);
    this.#discovery = new ModelDiscovery({
      pool: this.#pool,
      where: this.#where,
      path: `${this.#prefix}/models`,
      headers: [...this.#headers],
      configuredTargets: options.targets,
    });
  }

  capabilities(signal: AbortSignal): Promise<Capabilities> {
    return this.#discovery.capabilities(signal);
  }

  execute(spec: ExecutionSpec, sink: EventSink, signal: AbortSignal): Promise<RunEnd> {
    if (spec.dialect === 'iop.prompt') {
      return this.#relay(toChatSpec(spec), new PromptSink(sink), signal);
    }
    return this.#relay(spec, sink, signal);
  }

  async close(): Promise<void> {
    this.#pool.close();
  }

  #relay(spec: ExecutionSpec, sink: EventSink, signal: AbortSignal): Promise<RunEnd> {
    const includeUsage = spec.stream && spec.dialect !== 'openai.embeddings';
    const request = spliceRequest(spec.body, { model: spec.target, includeUsage });
    if (request.kind === 'invalid') return Promise.resolve(refusal(request.message));
    const call = new UpstreamCall(
      { pool: this.#pool, clock: this.#clock, watch: this.#watch, where: this.#where },
      {
        request: {
          path: this.#prefix + pathOf(spec),
          headers: [...this.#headers, 'x-request-id', spec.runId],
          body: request.body,
        },
        sink,
        signal,
        answerFor: (status, headers, settle) =>
          this.#answerFor({ spec, sink, settle, choices: request.choices }, status, headers),
      },
    );
    return call.run();
  }

  #answerFor(reading: Reading, status: number, headers: Headers): Answer {
    const { spec, sink, settle } = reading;
    const where = this.#where;
    const type = one(headers['content-type']) ?? '';
    const encoding = one(headers['content-encoding']) ?? 'identity';
    // Nobody asked for it, so nobody here can read it.
    if (encoding !== 'identity') settle(malformed(`${where} sent an answer in ${encoding}`));
    const isUnexpectedJson = spec.stream && type.includes('application/json');
    if (status < 200 || status > 299 || isUnexpectedJson) {
      const retryAfterMs = parseRetryAfter(headers, this.#clock.wall());
      return new ErrorAnswer({ where, status, retryAfterMs, settle });
    }
    if (!spec.stream) return new JsonAnswer({ dialect: spec.dialect, where, sink, settle });
    const tap = { where, choices: choicesToWaitFor(reading), withholdUsage: !spec.includeUsage };
    return new StreamAnswer({ dialect: spec.dialect, tap, sink, settle });
  }
}

function pathOf({ dialect, raw }: ExecutionSpec): string {
  return dialect === 'openai.raw' ? `/${raw?.path}` : paths[dialect];
}

interface Reading {
  spec: ExecutionSpec;
  sink: EventSink;
  settle: Settle;
  choices: number;
}

/** A completion may have many prompts, each with its own choices: only `[DONE]` says that it is whole. */
function choicesToWaitFor({ spec, choices }: Reading): number {
  return spec.dialect === 'openai.completions' ? Number.POSITIVE_INFINITY : choices;
}

function malformed(message: string): RunEnd {
  return { kind: 'failed', failure: fault('unavailable', 'upstream.malformed', message) };
}

function toChatSpec(spec: ExecutionSpec): ExecutionSpec {
  const content = new TextDecoder().decode(spec.body);
  const body = { messages: [{ role: 'user', content }], stream: true };
  return { ...spec, dialect: 'openai.chat', stream: true, body: Buffer.from(JSON.stringify(body)) };
}

function refusal(message: string): RunEnd {
  return {
    kind: 'failed',
    failure: { kind: 'invalid', code: 'request.invalid-json', message, details: {}, retryable: false },
  };
}
