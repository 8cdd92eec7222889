import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { FoundAgent } from './find-agents.ts';
import type { OllamaHost } from './ollama-host.ts';
import type { UpPlan } from './plan.ts';

const head =
  '# Written by `iop up` at every start. To keep a change, copy this file and start the part by itself.\n';

/** Where servers of the OpenAI dialect usually listen on the machine on which they run. */
const usualPorts: readonly [port: number, server: string][] = [
  [8000, 'vLLM'],
  [8001, 'vLLM, a second one'],
  [8080, 'llama.cpp'],
  [1234, 'LM Studio'],
  [30000, 'SGLang'],
];

/** What of this machine is offered, besides the mock. */
export interface Offer {
  ollama: OllamaHost;
  /** Chosen by the user. */
  agents: readonly FoundAgent[];
  /** Where agents work. */
  agentsDir: string;
  /** Names of variables that are set. */
  environment: ReadonlySet<string>;
}

/**
 * Every usual port is configured, whether or not a server is there now: the adapter looks for its
 * upstream for as long as it lives, so one that is started later is offered too, and one that goes
 * is not.
 */
export function localAdapters(plan: UpPlan, { baseUrl }: OllamaHost): LocalAdapter[] {
  const own = [plan.wirePort, plan.httpPort];
  const all: LocalAdapter[] = usualPorts.map(([port]) => ({
    name: `local-${port}`,
    kind: 'vllm',
    nodes: ['*'],
    base_url: `http://127.0.0.1:${port}/v1`,
  }));
  const ollama = { name: 'ollama', kind: 'ollama', nodes: ['*'], base_url: baseUrl } as const;
  const isOwn = (url: string) =>
    /^http:\/\/(127\.|localhost)/.test(url) && own.includes(Number(new URL(url).port));
  return [...all, ollama].filter(({ base_url: url }) => !isOwn(url));
}

export interface LocalAdapter {
  name: string;
  kind: 'vllm' | 'ollama';
  nodes: readonly string[];
  base_url: string;
}

/** Undefined: none was chosen. */
export function agentsAdapter({ agents, agentsDir, environment }: Offer) {
  if (agents.length === 0) return undefined;
  const targets = agents.map(({ name, program, profile, keys }) => {
    const env_pass = keys.filter((key) => environment.has(key));
    return { name, program, directory: agentsDir, ...profile, env_pass };
  });
  return { name: 'agents', kind: 'cli', nodes: ['*'], targets };
}

export function writeEdgeConfig(plan: UpPlan, offer: Offer): string {
  const { host, wirePort, httpPort, edgeDir } = plan;
  return write(join(edgeDir, 'edge.yaml'), {
    name: 'local',
    state_dir: edgeDir,
    wire: { host, port: wirePort },
    http: { host, port: httpPort },
    adapters: [
      { name: 'mock', kind: 'mock', nodes: ['*'], targets: [{ name: 'echo' }] },
      ...localAdapters(plan, offer.ollama),
      ...[agentsAdapter(offer)].filter((adapter) => adapter !== undefined),
    ],
  });
}

export function writeNodeConfig(plan: UpPlan, pin: string, offer: Offer): string {
  const adapter = agentsAdapter(offer);
  const programs = adapter?.targets.map(({ program }) => program);
  const environment = adapter?.targets.flatMap(({ env_pass }) => env_pass);
  return write(join(plan.nodeDir, 'node.yaml'), {
    name: 'local',
    state_dir: plan.nodeDir,
    edge: { address: plan.wireAddress, pins: [pin], token_file: join(plan.edgeDir, 'node.token') },
    allow: {
      adapters: ['mock', 'vllm', 'ollama', 'cli'],
      hosts: [...new Set(['127.0.0.1', offer.ollama.host])],
      ...(programs && { programs, directories: [offer.agentsDir], environment: [...new Set(environment)] }),
    },
  });
}

function write(path: string, config: unknown): string {
  writeFileSync(path, head + stringify(config), { mode: 0o600 });
  return path;
}
