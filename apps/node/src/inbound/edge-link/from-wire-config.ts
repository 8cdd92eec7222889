import type { AdapterConfig, NodeConfigPayload } from '@iop/wire';
import { defaultLimits, type NodeConfiguration } from '../../core/configuration.ts';
import type { AdapterConfiguration, AdapterSettings } from '../../ports/adapter-factory.ts';

export type ReadConfig =
  | { kind: 'configuration'; configuration: NodeConfiguration }
  | { kind: 'unreadable'; problems: readonly string[] };

/** The Edge's configuration in our own words. */
export function fromWireConfig(payload: NodeConfigPayload): ReadConfig {
  const problems: string[] = [];
  const adapters: AdapterConfiguration[] = [];
  for (const adapter of payload.adapters) {
    const settings = toSettings(adapter);
    if (settings === undefined) {
      problems.push(`adapters.${adapter.name}: its kind is unknown to this version of iop-node; update it`);
    } else adapters.push(toAdapter(adapter, settings));
  }
  if (problems.length > 0) return { kind: 'unreadable', problems };
  const limits = {
    stallAfterMs: payload.limits?.stallAfterMs || defaultLimits.stallAfterMs,
    orphanAfterMs: payload.limits?.orphanAfterMs || defaultLimits.orphanAfterMs,
  };
  return { kind: 'configuration', configuration: { revision: payload.revision, adapters, limits } };
}

function toAdapter(adapter: AdapterConfig, settings: AdapterSettings): AdapterConfiguration {
  const targets = adapter.targets.map(({ name, concurrency, mockScriptJson }) => ({
    name,
    concurrency,
    mockScriptJson,
  }));
  return { name: adapter.name, concurrency: adapter.concurrency, targets, settings };
}

function toSettings({ kind }: AdapterConfig): AdapterSettings | undefined {
  switch (kind.case) {
    case 'mock':
      return { kind: 'mock' };
    case 'vllm': {
      const { baseUrl, apiKeyFile, connectTimeoutMs, firstByteTimeoutMs, idleTimeoutMs } = kind.value;
      return { kind: 'vllm', baseUrl, apiKeyFile, connectTimeoutMs, firstByteTimeoutMs, idleTimeoutMs };
    }
    case 'ollama': {
      const { baseUrl, connectTimeoutMs, loadTimeoutMs, idleTimeoutMs, numCtx, keepAlive, think } =
        kind.value;
      const times = { connectTimeoutMs, loadTimeoutMs, idleTimeoutMs };
      return { kind: 'ollama', baseUrl, ...times, numCtx, keepAlive, think };
    }
    default:
      return undefined;
  }
}
