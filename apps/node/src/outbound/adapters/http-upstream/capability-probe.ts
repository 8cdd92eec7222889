import type { Capabilities, TargetInfo } from '@iop/runtime';
import { codeOf } from './upstream-fault.ts';

export interface ProbeInit {
  where: string;
  /** Rejects when the upstream cannot be reached or does not answer in time. */
  ask(signal: AbortSignal): Promise<ProbeFinding>;
}

/** `unhealthy`: it answered, but not as such a server does. */
export type ProbeFinding =
  | { kind: 'healthy'; targets: readonly TargetInfo[]; detail: string }
  | { kind: 'unhealthy'; detail: string };

const timeoutMs = 3000;

/**
 * What an upstream can do now, with a memory: one that takes the connection but is too busy to answer
 * keeps the health that it had, and one that is away keeps its targets.
 */
export class CapabilityProbe {
  readonly #init: ProbeInit;
  #known: readonly TargetInfo[] = [];
  #wasHealthy = false;

  constructor(init: ProbeInit) {
    this.#init = init;
  }

  async capabilities(signal: AbortSignal): Promise<Capabilities> {
    try {
      const found = await this.#init.ask(AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
      this.#wasHealthy = found.kind === 'healthy';
      if (found.kind === 'unhealthy') return this.#unhealthy(found.detail);
      this.#known = found.targets;
      return { healthy: true, detail: found.detail, targets: found.targets };
    } catch (error) {
      return this.#away(error);
    }
  }

  #away(error: unknown): Capabilities {
    const { where } = this.#init;
    const timedOut = error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
    if (timedOut && this.#wasHealthy) {
      const detail = `${where} is too busy to list its models; showing its last answer`;
      return { healthy: true, detail, targets: this.#known };
    }
    if (timedOut) return this.#unhealthy(`${where} did not list its models within ${timeoutMs / 1000} s`);
    this.#wasHealthy = false;
    const message = error instanceof Error ? error.message : String(error);
    return this.#unhealthy(`cannot reach ${where}: ${message || codeOf(error)}`);
  }

  #unhealthy(detail: string): Capabilities {
    return { healthy: false, detail, targets: this.#known };
  }
}

/** For `detail`: targets that the configuration names and the upstream has not. */
export function missingDetail(configured: readonly string[], found: readonly TargetInfo[]): string {
  const missing = configured.filter((name) => !found.some((target) => target.name === name));
  return missing.length === 0 ? '' : `configured but not served now: ${missing.join(', ')}`;
}
