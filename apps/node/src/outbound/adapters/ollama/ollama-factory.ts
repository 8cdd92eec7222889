import type { Clock } from '@iop/domain';
import type {
  AdapterConfiguration,
  AdapterFactory,
  AdapterSettings,
} from '../../../ports/adapter-factory.ts';
import { keyFileProblems, readApiKey } from '../http-upstream/api-key-file.ts';
import { urlProblems } from '../http-upstream/base-url.ts';
import { createHostGuard } from '../http-upstream/host-guard.ts';
import type { Think } from './chat-extras.ts';
import { createOllamaAdapter } from './ollama-adapter.ts';

type OllamaSettings = Extract<AdapterSettings, { kind: 'ollama' }>;

const exampleUrl = 'http://127.0.0.1:11434';
/** A large model takes minutes from a slow disk, and then the prompt has to be read. */
const defaults = { connectTimeoutMs: 5_000, loadTimeoutMs: 900_000, idleTimeoutMs: 120_000 };

export function createOllamaFactory(deps: { clock: Clock }): AdapterFactory {
  return {
    check(configuration, allow) {
      const settings = ollamaSettings(configuration);
      return [
        ...urlProblems(settings.baseUrl, exampleUrl, allow),
        ...keyFileProblems(settings.apiKeyFile, allow),
        ...optionProblems(settings),
      ];
    },
    create(configuration, allow) {
      const settings = ollamaSettings(configuration);
      return createOllamaAdapter(
        {
          name: configuration.name,
          baseUrl: settings.baseUrl.replace(/\/+$/, ''),
          apiKey: readApiKey(settings.apiKeyFile),
          connectTimeoutMs: settings.connectTimeoutMs || defaults.connectTimeoutMs,
          loadTimeoutMs: settings.loadTimeoutMs || defaults.loadTimeoutMs,
          idleTimeoutMs: settings.idleTimeoutMs || defaults.idleTimeoutMs,
          numCtx: settings.numCtx,
          keepAlive: settings.keepAlive,
          think: thinks.get(settings.think),
          targets: configuration.targets.map((target) => target.name),
        },
        { clock: deps.clock, hosts: createHostGuard(allow.hosts) },
      );
    },
  };
}

const thinks: ReadonlyMap<string, Think | undefined> = new Map<string, Think | undefined>([
  ['', undefined],
  ['off', false],
  ['on', true],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['max', 'max'],
]);

function ollamaSettings(configuration: AdapterConfiguration): OllamaSettings {
  if (configuration.settings.kind !== 'ollama') throw new TypeError('not an ollama configuration');
  return configuration.settings;
}

function optionProblems({ baseUrl, keepAlive, think }: OllamaSettings): string[] {
  const problems: string[] = [];
  if (/\/(v1|api)\/*$/.test(baseUrl)) {
    problems.push(`base_url: must end before /api or /v1, like ${exampleUrl}`);
  }
  if (!/^(|-?\d+|(\d+(\.\d+)?(ms|s|m|h))+)$/.test(keepAlive)) {
    problems.push(
      `keep_alive: ${JSON.stringify(keepAlive)} is no duration like 5m, number of seconds, 0 or -1`,
    );
  }
  if (!thinks.has(think)) {
    problems.push(
      `think: ${JSON.stringify(think)} is none of ${[...thinks.keys()].filter(Boolean).join(', ')}`,
    );
  }
  return problems;
}
