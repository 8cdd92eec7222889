import type { Clock, RunEnd } from '@iop/domain';
import type { Adapter, Capabilities, EventSink, ExecutionSpec } from '@iop/runtime';
import { FactBook } from '../http-upstream/fact-book.ts';
import type { HostGuard } from '../http-upstream/host-guard.ts';
import { requestHeaders } from '../http-upstream/request-headers.ts';
import { SilenceWatch } from '../http-upstream/silence-watch.ts';
import { UpstreamCall } from '../http-upstream/upstream-call.ts';
import { UpstreamPool } from '../http-upstream/upstream-pool.ts';
import { chooseAnswer } from './answer-choice.ts';
import { LoadProbe } from './load-probe.ts';
import { ModelDiscovery } from './model-discovery.ts';
import { PromptSink } from './prompt-sink.ts';
import { planRequest } from './request-plan.ts';
import { RunWatch } from './run-watch.ts';

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
  /** By target: whether the upstream is asked for a stream, whatever the caller wants. */
  forceStream?: ReadonlyMap<string, boolean>;
}

export interface VllmDeps {
  clock: Clock;
  hosts: HostGuard;
}

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
  readonly dialects = [
    'openai.chat',
    'openai.completions',
    'openai.embeddings',
    'openai.raw',
    'iop.prompt',
  ] as const;
  readonly #clock: Clock;
  readonly #where: string;
  readonly #prefix: string;
  readonly #apiKey: string;
  readonly #forceStream: ReadonlyMap<string, boolean>;
  readonly #pool: UpstreamPool;
  readonly #watch: SilenceWatch;
  readonly #discovery: ModelDiscovery;
  readonly #load: LoadProbe;
  readonly #facts = new FactBook();

  constructor(options: VllmOptions, deps: VllmDeps) {
    const url = new URL(options.baseUrl);
    this.name = options.name;
    this.#clock = deps.clock;
    this.#where = `${options.name} at ${url.host}`;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#apiKey = options.apiKey;
    this.#forceStream = options.forceStream ?? new Map();
    const connector = deps.hosts.connector(options.connectTimeoutMs);
    this.#pool = new UpstreamPool({ origin: url.origin, connector });
    this.#watch = new SilenceWatch(deps.clock, options);
    const headers = [...requestHeaders(options.apiKey)];
    const metricsPath = `${this.#prefix.replace(/\/v1$/, '')}/metrics`;
    this.#load = new LoadProbe({ pool: this.#pool, clock: deps.clock, path: metricsPath, headers });
    this.#discovery = new ModelDiscovery({
      pool: this.#pool,
      where: this.#where,
      path: `${this.#prefix}/models`,
      headers,
      configuredTargets: options.targets,
    });
  }

  async capabilities(signal: AbortSignal): Promise<Capabilities> {
    const asked = [this.#discovery.capabilities(signal), this.#load.read(signal)] as const;
    const [found, load] = await Promise.all(asked);
    const targets = this.#facts.complete(found.targets);
    return { ...found, targets, ...(found.healthy && load !== undefined && { load }) };
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

  async #relay(spec: ExecutionSpec, sink: EventSink, signal: AbortSignal): Promise<RunEnd> {
    const forceStream = this.#forceStream.get(spec.target);
    const plan = planRequest(spec, { prefix: this.#prefix, forceStream });
    if (plan.kind === 'refused') return plan.end;
    const { path, contentType, body, reading, streams } = plan;
    const watch = new RunWatch(this.#facts, { spec, reading, streams });
    const where = this.#where;
    const clock = this.#clock;
    const call = new UpstreamCall(
      { pool: this.#pool, clock, watch: this.#watch, where },
      {
        request: {
          path,
          headers: [...requestHeaders(this.#apiKey, contentType), 'x-request-id', spec.runId],
          body,
        },
        sink,
        signal,
        answerFor: (status, headers, settle) => {
          const context = { spec, reading, streams, sink, settle, watch, where, nowMs: clock.wall() };
          return chooseAnswer(context, status, headers);
        },
      },
    );
    const end = await call.run();
    watch.ended(end);
    return end;
  }
}

function toChatSpec(spec: ExecutionSpec): ExecutionSpec {
  const content = new TextDecoder().decode(spec.body);
  const body = { messages: [{ role: 'user', content }], stream: true };
  return { ...spec, dialect: 'openai.chat', stream: true, body: Buffer.from(JSON.stringify(body)) };
}
