import type { Clock, RunEnd } from '@iop/domain';
import type { Adapter, Capabilities, EventSink, ExecutionSpec } from '@iop/runtime';
import type { Answer, Settle } from '../http-upstream/answer.ts';
import { ErrorAnswer } from '../http-upstream/error-answer.ts';
import type { HostGuard } from '../http-upstream/host-guard.ts';
import { SilenceWatch } from '../http-upstream/silence-watch.ts';
import { UpstreamCall } from '../http-upstream/upstream-call.ts';
import { type Headers, one, parseRetryAfter } from '../http-upstream/upstream-error.ts';
import { fault } from '../http-upstream/upstream-fault.ts';
import { UpstreamPool } from '../http-upstream/upstream-pool.ts';
import { ChatAnswer } from './chat-answer.ts';
import { type ChatSettings, toOllamaChat } from './chat-request.ts';
import { ModelShelf } from './model-shelf.ts';
import { explainFailure } from './ollama-failure.ts';

export interface OllamaOptions extends ChatSettings {
  name: string;
  /** Before `/api`, without a slash at the end. */
  baseUrl: string;
  connectTimeoutMs: number;
  /** From the request to the first byte: queue, loading, reading the prompt. */
  loadTimeoutMs: number;
  /** Between two pieces of an answer. */
  idleTimeoutMs: number;
  targets: readonly string[];
}

export interface OllamaDeps {
  clock: Clock;
  hosts: HostGuard;
}

const headers = [
  'content-type',
  'application/json',
  'accept-encoding',
  'identity',
  'user-agent',
  'iop-node',
] as const;

/** Chat over Ollama's own API; see DESIGN.md beside this file. */
export function createOllamaAdapter(options: OllamaOptions, deps: OllamaDeps): Adapter {
  return new OllamaAdapter(options, deps);
}

class OllamaAdapter implements Adapter {
  readonly name: string;
  readonly kind = 'ollama';
  readonly retry = 'before-content';
  readonly sessions = 'portable';
  readonly dialects = ['openai.chat', 'iop.prompt'] as const;
  readonly #options: OllamaOptions;
  readonly #clock: Clock;
  readonly #where: string;
  readonly #prefix: string;
  readonly #pool: UpstreamPool;
  readonly #watch: SilenceWatch;
  readonly #shelf: ModelShelf;

  constructor(options: OllamaOptions, deps: OllamaDeps) {
    const url = new URL(options.baseUrl);
    this.name = options.name;
    this.#options = options;
    this.#clock = deps.clock;
    this.#where = `${options.name} at ${url.host}`;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    const connector = deps.hosts.connector(options.connectTimeoutMs);
    this.#pool = new UpstreamPool({ origin: url.origin, connector });
    this.#watch = new SilenceWatch(deps.clock, {
      firstByteTimeoutMs: options.loadTimeoutMs,
      idleTimeoutMs: options.idleTimeoutMs,
    });
    this.#shelf = new ModelShelf({
      pool: this.#pool,
      where: this.#where,
      prefix: this.#prefix,
      headers,
      numCtx: options.numCtx,
      configuredTargets: options.targets,
    });
  }

  capabilities(signal: AbortSignal): Promise<Capabilities> {
    return this.#shelf.capabilities(signal);
  }

  async execute(spec: ExecutionSpec, sink: EventSink, signal: AbortSignal): Promise<RunEnd> {
    const request = toOllamaChat(spec, this.#settingsFor(spec.target));
    if (request.kind === 'refused') return { kind: 'failed', failure: request.failure };
    const { body, textLength } = request;
    const call = new UpstreamCall(
      { pool: this.#pool, clock: this.#clock, watch: this.#watch, where: this.#where },
      {
        request: {
          path: `${this.#prefix}/api/chat`,
          headers: [...headers, 'x-request-id', spec.runId],
          body,
        },
        sink,
        signal,
        answerFor: (status, head, settle) =>
          this.#answerFor({ spec, sink, settle, textLength }, status, head),
      },
    );
    return this.#explain(await call.run(), spec);
  }

  async close(): Promise<void> {
    this.#pool.close();
  }

  #settingsFor(target: string): ChatSettings {
    const { numCtx, keepAlive, think } = this.#options;
    return { numCtx, keepAlive, think: this.#shelf.canThink(target) ? think : undefined };
  }

  #answerFor({ spec, sink, settle, textLength }: Reading, status: number, head: Headers): Answer {
    const where = this.#where;
    if (status !== 200) {
      return new ErrorAnswer({
        where,
        status,
        retryAfterMs: parseRetryAfter(head, this.#clock.wall()),
        settle,
      });
    }
    const encoding = one(head['content-encoding']) ?? 'identity';
    // Nobody asked for it, so nobody here can read it.
    if (encoding !== 'identity') settle(malformed(`${where} sent an answer in ${encoding}`));
    void this.#shelf.lookAtLoaded(spec.target);
    const contextLength = () => this.#shelf.contextLength(spec.target);
    return new ChatAnswer({ where, runId: spec.runId, textLength, contextLength, sink, settle });
  }

  #explain(end: RunEnd, { target }: ExecutionSpec): RunEnd {
    if (end.kind !== 'failed') return end;
    const place = { where: this.#where, target, numCtx: this.#options.numCtx };
    return { ...end, failure: explainFailure(end.failure, place) };
  }
}

function malformed(message: string): RunEnd {
  return { kind: 'failed', failure: fault('unavailable', 'upstream.malformed', message) };
}

interface Reading {
  spec: ExecutionSpec;
  sink: EventSink;
  settle: Settle;
  textLength: number;
}
