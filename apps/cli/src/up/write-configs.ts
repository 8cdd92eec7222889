import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
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
const ollamaPort = 11434;

/**
 * Every usual port is configured, whether or not a server is there now: the adapter looks for its
 * upstream for as long as it lives, so one that is started later is offered too, and one that goes
 * is not.
 */
export function localAdapters(plan: UpPlan): LocalAdapter[] {
  const own = [plan.wirePort, plan.httpPort];
  const all: LocalAdapter[] = usualPorts.map(([port]) => ({
    name: `local-${port}`,
    kind: 'vllm',
    nodes: ['*'],
    base_url: `http://127.0.0.1:${port}/v1`,
  }));
  const ollama = {
    name: 'ollama',
    kind: 'ollama',
    nodes: ['*'],
    base_url: `http://127.0.0.1:${ollamaPort}`,
  } as const;
  return [...all, ollama].filter(({ base_url: url }) => !own.includes(Number(new URL(url).port)));
}

export interface LocalAdapter {
  name: string;
  kind: 'vllm' | 'ollama';
  nodes: readonly string[];
  base_url: string;
}

export function writeEdgeConfig(plan: UpPlan): string {
  const { host, wirePort, httpPort, edgeDir } = plan;
  return write(join(edgeDir, 'edge.yaml'), {
    name: 'local',
    state_dir: edgeDir,
    wire: { host, port: wirePort },
    http: { host, port: httpPort },
    adapters: [
      { name: 'mock', kind: 'mock', nodes: ['*'], targets: [{ name: 'echo' }] },
      ...localAdapters(plan),
    ],
  });
}

export function writeNodeConfig(plan: UpPlan, pin: string): string {
  return write(join(plan.nodeDir, 'node.yaml'), {
    name: 'local',
    state_dir: plan.nodeDir,
    edge: { address: plan.wireAddress, pins: [pin], token_file: join(plan.edgeDir, 'node.token') },
    allow: { adapters: ['mock', 'vllm', 'ollama'], hosts: ['127.0.0.1'] },
  });
}

function write(path: string, config: unknown): string {
  writeFileSync(path, head + stringify(config), { mode: 0o600 });
  return path;
}
