import type { Clock } from '@iop/domain';
import type { UpstreamLoad } from '@iop/runtime';
import { askUpstream } from '../http-upstream/ask-upstream.ts';
import type { UpstreamPool } from '../http-upstream/upstream-pool.ts';
import { parseLoad } from './metrics-load.ts';

export interface LoadProbeInit {
  pool: UpstreamPool;
  clock: Clock;
  /** Of GET …/metrics. */
  path: string;
  headers: readonly string[];
}

const timeoutMs = 2000;
/** A server that has no such metrics is left alone for so long. */
const restMs = 60_000;

/** Asks the upstream how busy it is, others' requests included; costs it one small answer. */
export class LoadProbe {
  readonly #init: LoadProbeInit;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #last: UpstreamLoad | undefined;

  constructor(init: LoadProbeInit) {
    this.#init = init;
  }

  /** Undefined: it does not say. Too busy to say: what it said last. Never rejects. */
  async read(signal: AbortSignal): Promise<UpstreamLoad | undefined> {
    const { pool, clock, path, headers } = this.#init;
    if (clock.now() < this.#restUntilMs) return undefined;
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const { status, text } = await askUpstream(pool, { method: 'GET', path, headers }, limited);
      this.#last = status === 200 ? parseLoad(text) : undefined;
      if (this.#last === undefined) this.#restUntilMs = clock.now() + restMs;
    } catch {
      if (!limited.aborted) this.#last = undefined;
    }
    return this.#last;
  }
}
