import type { Clock } from '@iop/domain';
import type { Adapter } from '@iop/runtime';
import type {
  AdapterConfiguration,
  AdapterFactory,
  AdapterSettings,
  Allow,
} from '../../../ports/adapter-factory.ts';
import { keyFileProblems, readApiKey } from '../http-upstream/api-key-file.ts';
import { urlProblems } from '../http-upstream/base-url.ts';
import { createHostGuard } from '../http-upstream/host-guard.ts';
import { createVllmAdapter } from './vllm-adapter.ts';

type VllmSettings = Extract<AdapterSettings, { kind: 'vllm' }>;

const exampleUrl = 'http://127.0.0.1:8000/v1';
const defaults = { connectTimeoutMs: 5_000, firstByteTimeoutMs: 600_000, idleTimeoutMs: 120_000 };

export function createVllmFactory(deps: { clock: Clock }): AdapterFactory {
  return {
    check(configuration, allow) {
      const settings = vllmSettings(configuration);
      return [
        ...urlProblems(settings.baseUrl, exampleUrl, allow),
        ...keyFileProblems(settings.apiKeyFile, allow),
      ];
    },
    create(configuration, allow) {
      return build(configuration, allow, deps.clock);
    },
  };
}

function build(configuration: AdapterConfiguration, allow: Allow, clock: Clock): Adapter {
  const settings = vllmSettings(configuration);
  return createVllmAdapter(
    {
      name: configuration.name,
      baseUrl: settings.baseUrl.replace(/\/+$/, ''),
      apiKey: readApiKey(settings.apiKeyFile),
      connectTimeoutMs: settings.connectTimeoutMs || defaults.connectTimeoutMs,
      firstByteTimeoutMs: settings.firstByteTimeoutMs || defaults.firstByteTimeoutMs,
      idleTimeoutMs: settings.idleTimeoutMs || defaults.idleTimeoutMs,
      targets: configuration.targets.map((target) => target.name),
      forceStream: forcedStreams(configuration),
    },
    { clock, hosts: createHostGuard(allow.hosts) },
  );
}

function forcedStreams({ targets }: AdapterConfiguration): ReadonlyMap<string, boolean> {
  return new Map(
    targets.flatMap(({ name, forceStream }) => (forceStream === undefined ? [] : [[name, forceStream]])),
  );
}

function vllmSettings(configuration: AdapterConfiguration): VllmSettings {
  if (configuration.settings.kind !== 'vllm') throw new TypeError('not a vllm configuration');
  return configuration.settings;
}
