import type { Capabilities, TargetInfo } from '@iop/runtime';
import { askUpstream, type Reply } from '../http-upstream/ask-upstream.ts';
import { CapabilityProbe, missingDetail, type ProbeFinding } from '../http-upstream/capability-probe.ts';
import { parseUpstreamError } from '../http-upstream/upstream-error.ts';
import type { UpstreamPool } from '../http-upstream/upstream-pool.ts';

export interface DiscoveryInit {
  pool: UpstreamPool;
  where: string;
  /** Of GET …/models. */
  path: string;
  headers: string[];
  /** Named in the configuration: assumed where the upstream has no list. */
  configuredTargets: readonly string[];
}

/** Asks the upstream what it serves, by its list of models alone: nothing is loaded or run. */
export class ModelDiscovery {
  readonly #init: DiscoveryInit;
  readonly #probe: CapabilityProbe;

  constructor(init: DiscoveryInit) {
    this.#init = init;
    this.#probe = new CapabilityProbe({ where: init.where, ask: (signal) => this.#ask(signal) });
  }

  capabilities(signal: AbortSignal): Promise<Capabilities> {
    return this.#probe.capabilities(signal);
  }

  async #ask(signal: AbortSignal): Promise<ProbeFinding> {
    const { pool, path, headers } = this.#init;
    return this.#read(await askUpstream(pool, { method: 'GET', path, headers }, signal));
  }

  #read({ status, json }: Reply): ProbeFinding {
    const { where, configuredTargets } = this.#init;
    if (status === 404 || status === 405 || status === 501) {
      const detail = `${where} has no list of models; taking those that are configured`;
      return { kind: 'healthy', detail, targets: configuredTargets.map((name) => ({ name })) };
    }
    if (status !== 200) {
      const said = parseUpstreamError(json)?.message ?? '';
      const detail = `${where} answered ${status} to GET /models${said === '' ? '' : `: ${said}`}`;
      return { kind: 'unhealthy', detail };
    }
    const targets = parseModels(json);
    if (targets === undefined) {
      return { kind: 'unhealthy', detail: `${where} answered GET /models with no list of models` };
    }
    return { kind: 'healthy', detail: missingDetail(configuredTargets, targets), targets };
  }
}

/**
 * `{data:[{id,max_model_len?,meta?:{n_ctx,n_ctx_train}}],models?:[{name,capabilities}]}`, as vLLM and
 * llama.cpp write it. What a slot of llama.cpp holds is often less than what the model was trained for.
 */
export function parseModels(body: unknown): TargetInfo[] | undefined {
  const { data, models } = (body ?? {}) as { data?: unknown; models?: unknown };
  if (!Array.isArray(data)) return undefined;
  const declared = Array.isArray(models) ? (models as DeclaredModel[]) : [];
  return (data as ModelCard[]).flatMap((card) => {
    if (typeof card?.id !== 'string' || card.id === '') return [];
    const target: TargetInfo = { name: card.id };
    const length = card.max_model_len ?? card.meta?.n_ctx ?? card.meta?.n_ctx_train;
    if (typeof length === 'number' && Number.isInteger(length) && length > 0) target.contextLength = length;
    const images = takesImages(declared.find((model) => model?.name === card.id)?.capabilities);
    if (images !== undefined) target.facts = [{ name: 'images', holds: images, source: 'declared' }];
    return [target];
  });
}

/** llama.cpp says `completion`, and `multimodal` if it was started with a projector. */
function takesImages(capabilities: unknown): boolean | undefined {
  const isList = Array.isArray(capabilities) && capabilities.includes('completion');
  return isList ? capabilities.includes('multimodal') : undefined;
}

interface DeclaredModel {
  name?: unknown;
  capabilities?: unknown;
}

interface ModelCard {
  id?: unknown;
  max_model_len?: unknown;
  meta?: { n_ctx?: unknown; n_ctx_train?: unknown };
}
