import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, sep } from 'node:path';
import { type Clock, IopError, toIopError } from '@iop/domain';
import type { Adapter } from '@iop/runtime';
import { readSecretFile } from '@iop/shell';
import type {
  AdapterConfiguration,
  AdapterFactory,
  AdapterSettings,
  Allow,
} from '../../../ports/adapter-factory.ts';
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
        ...keyProblems(settings.apiKeyFile, allow),
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
      apiKey: settings.apiKeyFile === '' ? '' : readKey(settings.apiKeyFile),
      connectTimeoutMs: settings.connectTimeoutMs || defaults.connectTimeoutMs,
      firstByteTimeoutMs: settings.firstByteTimeoutMs || defaults.firstByteTimeoutMs,
      idleTimeoutMs: settings.idleTimeoutMs || defaults.idleTimeoutMs,
      targets: configuration.targets.map((target) => target.name),
    },
    { clock, hosts: createHostGuard(allow.hosts) },
  );
}

function vllmSettings(configuration: AdapterConfiguration): VllmSettings {
  if (configuration.settings.kind !== 'vllm') throw new TypeError('not a vllm configuration');
  return configuration.settings;
}

function keyProblems(file: string, allow: Allow): string[] {
  if (file === '') return [];
  if (!isAbsolute(file)) return [`api_key_file: ${file} is not an absolute path`];
  let real: string;
  try {
    real = realpathSync(file);
    if (!statSync(real).isFile()) return [`api_key_file: ${file} is not a file`];
  } catch {
    return [`api_key_file: ${file} cannot be read on this Node`];
  }
  // The real path: a link inside an allowed directory must not lead out of it.
  if (allow.directories.some((directory) => isInside(real, directory))) return contentProblems(file);
  const list = allow.directories.length === 0 ? 'none' : allow.directories.join(', ');
  return [`api_key_file: ${file} is not in a directory that node.yaml allows (allow.directories: ${list})`];
}

function contentProblems(file: string): string[] {
  try {
    readKey(file);
    return [];
  } catch (reason) {
    return [`api_key_file: ${toIopError(reason).message}`];
  }
}

function isInside(real: string, directory: string): boolean {
  try {
    const base = realpathSync(directory);
    return real.startsWith(base.endsWith(sep) ? base : base + sep);
  } catch {
    return false;
  }
}

/** @throws IopError for a file that is empty, or that others may read */
function readKey(file: string): string {
  const key = readSecretFile(file);
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  const message = `api_key_file: ${file} does not hold one line with a key`;
  throw new IopError({ kind: 'invalid', code: 'config.invalid', message });
}
