import type { Clock } from '@iop/domain';
import type { Capabilities, TargetInfo } from '@iop/runtime';
import { parseUpstreamError } from './upstream-error.ts';
import { codeOf } from './upstream-fault.ts';
import type { UpstreamPool } from './upstream-pool.ts';

export interface DiscoveryInit {
  pool: UpstreamPool;
  clock: Clock;
  where: string;
  /** Of GET …/models. */
  path: string;
  headers: string[];
  /** Named in the configuration: assumed where the upstream has no list. */
  configuredTargets: readonly string[];
}

const timeoutMs = 3000;
const maxListBytes = 4 * 1024 * 1024;

/**
 * Asks the upstream what it serves, by its list of models alone: nothing is loaded or run. An
 * upstream that takes the connection but is too busy to answer keeps the health that it had.
 */
export class ModelDiscovery {
  readonly #init: DiscoveryInit;
  #known: readonly TargetInfo[] = [];
  #wasHealthy = false;

  constructor(init: DiscoveryInit) {
    this.#init = init;
  }

  async capabilities(signal: AbortSignal): Promise<Capabilities> {
    try {
      const found = await this.#ask(AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
      this.#wasHealthy = found.healthy;
      if (found.healthy) this.#known = found.targets;
      return found;
    } catch (error) {
      return this.#away(error);
    }
  }

  async #ask(signal: AbortSignal): Promise<Capabilities> {
    const { pool, path, headers } = this.#init;
    const pooled = pool.acquire();
    try {
      const answer = await pooled.client.request({ path, method: 'GET', headers, signal });
      const bytes = await readBounded(answer.body);
      pool.release(pooled);
      return this.#read(answer.statusCode, bytes);
    } catch (error) {
      pool.discard(pooled);
      throw error;
    }
  }

  #read(status: number, bytes: Buffer): Capabilities {
    const { where, configuredTargets } = this.#init;
    if (status === 404 || status === 405 || status === 501) {
      const detail = `${where} has no list of models; taking those that are configured`;
      return { healthy: true, detail, targets: configuredTargets.map((name) => ({ name })) };
    }
    const body = parseJson(bytes);
    if (status !== 200) {
      const said = parseUpstreamError(body)?.message ?? '';
      return this.#unhealthy(`${where} answered ${status} to GET /models${said === '' ? '' : `: ${said}`}`);
    }
    const targets = parseModels(body);
    if (targets === undefined) return this.#unhealthy(`${where} answered GET /models with no list of models`);
    return { healthy: true, detail: missingDetail(configuredTargets, targets), targets };
  }

  #away(error: unknown): Capabilities {
    const { where } = this.#init;
    const code = codeOf(error);
    const timedOut = error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
    if (timedOut && this.#wasHealthy) {
      const detail = `${where} is too busy to list its models; showing its last answer`;
      return { healthy: true, detail, targets: this.#known };
    }
    if (timedOut) return this.#unhealthy(`${where} did not list its models within ${timeoutMs / 1000} s`);
    this.#wasHealthy = false;
    const message = error instanceof Error ? error.message : String(error);
    return this.#unhealthy(`cannot reach ${where}: ${message || code}`);
  }

  #unhealthy(detail: string): Capabilities {
    return { healthy: false, detail, targets: this.#known };
  }
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > maxListBytes) throw new Error(`the list of models is larger than ${maxListBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/**
 * `{data:[{id,max_model_len?,meta?:{n_ctx,n_ctx_train}}]}`, as vLLM and llama.cpp write it. What a slot of
 * llama.cpp holds is often less than what the model was trained for.
 */
export function parseModels(body: unknown): TargetInfo[] | undefined {
  const list = (body as { data?: unknown } | null | undefined)?.data;
  if (!Array.isArray(list)) return undefined;
  const targets: TargetInfo[] = [];
  for (const card of list as ModelCard[]) {
    if (typeof card?.id !== 'string' || card.id === '') continue;
    const length = card.max_model_len ?? card.meta?.n_ctx ?? card.meta?.n_ctx_train;
    const isLength = typeof length === 'number' && Number.isInteger(length) && length > 0;
    targets.push({ name: card.id, ...(isLength && { contextLength: length }) });
  }
  return targets;
}

interface ModelCard {
  id?: unknown;
  max_model_len?: unknown;
  meta?: { n_ctx?: unknown; n_ctx_train?: unknown };
}

function missingDetail(configured: readonly string[], found: readonly TargetInfo[]): string {
  const missing = configured.filter((name) => !found.some((target) => target.name === name));
  return missing.length === 0 ? '' : `configured but not served now: ${missing.join(', ')}`;
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
