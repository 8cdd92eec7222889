import type { Clock, RunEnd } from '@iop/domain';
import type { Adapter, Capabilities, EventSink, ExecutionSpec, FactName } from '@iop/runtime';
import type { Answer, Settle } from '../http-upstream/answer.ts';
import { ErrorAnswer } from '../http-upstream/error-answer.ts';
import type { HostGuard } from '../http-upstream/host-guard.ts';
import { requestHeaders } from '../http-upstream/request-headers.ts';
import { SilenceWatch } from '../http-upstream/silence-watch.ts';
import { UpstreamCall } from '../http-upstream/upstream-call.ts';
import { type Headers, one, parseRetryAfter } from '../http-upstream/upstream-error.ts';
import { UpstreamPool } from '../http-upstream/upstream-pool.ts';
import { ModelShelf } from './model-shelf.ts';
import { explainFailure, factDenied, malformed } from './ollama-failure.ts';
import type { RequestSettings } from './ollama-request.ts';
import { ollamaDialects, type Route, routeRun } from './ollama-routes.ts';

export interface OllamaOptions extends RequestSettings {
  name: string;
  /** Before `/api`, without a slash at the end. */
  baseUrl: string;
  /** Sent as a bearer token; empty: none. */
  apiKey: string;
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

/** Ollama's own API; see DESIGN.md beside this file. */
export function createOllamaAdapter(options: OllamaOptions, deps: OllamaDeps): Adapter {
  return new OllamaAdapter(options, deps);
}

class OllamaAdapter implements Adapter {
  readonly name: string;
  readonly kind = 'ollama';
  readonly retry = 'before-content';
  readonly sessions = 'portable';
  readonly dialects = ollamaDialects;
  readonly #options: OllamaOptions;
  readonly #clock: Clock;
  readonly #where: string;
  readonly #prefix: string;
  readonly #headers: readonly string[];
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
    this.#headers = requestHeaders(options.apiKey);
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
      headers: this.#headers,
      numCtx: options.numCtx,
      configuredTargets: options.targets,
    });
  }

  capabilities(signal: AbortSignal): Promise<Capabilities> {
    return this.#shelf.capabilities(signal);
  }

  async execute(spec: ExecutionSpec, sink: EventSink, signal: AbortSignal): Promise<RunEnd> {
    const route = routeRun(spec, this.#settingsFor(spec.target));
    if (route.kind === 'refused') return { kind: 'failed', failure: route.failure };
    const call = new UpstreamCall(
      { pool: this.#pool, clock: this.#clock, watch: this.#watch, where: this.#where },
      {
        request: {
          path: this.#prefix + route.path,
          headers: [...this.#headers, 'x-request-id', spec.runId],
          body: route.body,
        },
        sink,
        signal,
        answerFor: (status, headers, settle) =>
          this.#answerFor({ target: spec.target, route, sink, settle }, status, headers),
      },
    );
    return this.#explain(await call.run(), spec.target);
  }

  async close(): Promise<void> {
    this.#pool.close();
  }

  #settingsFor(target: string): RequestSettings {
    const { numCtx, keepAlive, think } = this.#options;
    const thinks = this.#shelf.canThink(target);
    return { numCtx, keepAlive, think: thinks === false ? undefined : think, thinks };
  }

  #answerFor({ target, route, sink, settle }: Reading, status: number, headers: Headers): Answer {
    const where = this.#where;
    if (status !== 200) {
      const retryAfterMs = parseRetryAfter(headers, this.#clock.wall());
      return new ErrorAnswer({ where, status, retryAfterMs, settle });
    }
    const encoding = one(headers['content-encoding']) ?? 'identity';
    // Nobody asked for it, so nobody here can read it.
    if (encoding !== 'identity') {
      settle({ kind: 'failed', failure: malformed(where, `an answer in ${encoding}`) });
    }
    void this.#shelf.lookAtLoaded(target);
    const contextLength = () => this.#shelf.contextLength(target);
    const saw = (fact: FactName) => this.#shelf.saw(target, fact, true);
    return route.createAnswer({ where, contextLength, saw, sink, settle });
  }

  #explain(end: RunEnd, target: string): RunEnd {
    if (end.kind !== 'failed') return end;
    const place = { where: this.#where, target, numCtx: this.#options.numCtx };
    const failure = explainFailure(end.failure, place);
    const denied = factDenied(failure);
    if (denied !== undefined) this.#shelf.saw(target, denied, false);
    return { ...end, failure };
  }
}

interface Reading {
  target: string;
  route: Route;
  sink: EventSink;
  settle: Settle;
}
