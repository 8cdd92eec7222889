import { type AdapterConfig, ForceStream, type NodeConfigPayload, type TargetConfig } from '@iop/wire';
import { defaultLimits, type NodeConfiguration } from '../../core/configuration.ts';
import type {
  AdapterConfiguration,
  AdapterSettings,
  TargetConfiguration,
} from '../../ports/adapter-factory.ts';

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
    detachedOrphanAfterMs: payload.limits?.detachedOrphanAfterMs || defaultLimits.detachedOrphanAfterMs,
  };
  return { kind: 'configuration', configuration: { revision: payload.revision, adapters, limits } };
}

function toAdapter(adapter: AdapterConfig, settings: AdapterSettings): AdapterConfiguration {
  const targets = adapter.targets.map(toTarget);
  return { name: adapter.name, concurrency: adapter.concurrency, targets, settings };
}

function toTarget({
  name,
  concurrency,
  mockScriptJson,
  cliProfileJson,
  forceStream,
}: TargetConfig): TargetConfiguration {
  const isForced = forceStreams.get(forceStream);
  const target = { name, concurrency, mockScriptJson, cliProfileJson };
  return isForced === undefined ? target : { ...target, forceStream: isForced };
}

const forceStreams: ReadonlyMap<ForceStream, boolean> = new Map([
  [ForceStream.ALWAYS, true],
  [ForceStream.NEVER, false],
]);

function toSettings({ kind }: AdapterConfig): AdapterSettings | undefined {
  switch (kind.case) {
    case 'mock':
    case 'cli':
      return { kind: kind.case };
    case 'vllm': {
      const { baseUrl, apiKeyFile, connectTimeoutMs, firstByteTimeoutMs, idleTimeoutMs } = kind.value;
      return { kind: 'vllm', baseUrl, apiKeyFile, connectTimeoutMs, firstByteTimeoutMs, idleTimeoutMs };
    }
    case 'ollama': {
      const { baseUrl, apiKeyFile, connectTimeoutMs, loadTimeoutMs, idleTimeoutMs } = kind.value;
      const { numCtx, keepAlive, think } = kind.value;
      const times = { connectTimeoutMs, loadTimeoutMs, idleTimeoutMs };
      return { kind: 'ollama', baseUrl, apiKeyFile, ...times, numCtx, keepAlive, think };
    }
    default:
      return undefined;
  }
}
