import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Edge } from './edge.ts';
import { type ProcessWishes, type Program, startProgram } from './program.ts';

export const nodeMain = join(import.meta.dirname, '../../apps/node/src/main.ts');

export interface NodeConfig extends ProcessWishes {
  name: string;
  /** Dial this port instead of the Edge's own: a proxy, or nobody. */
  port?: number;
  pins?: readonly string[];
  tokenFile?: string;
  allow?: Record<string, unknown>;
  /** Commands in front of the program: `ip netns exec …`. */
  prefix?: readonly string[];
  /** `debug` unless said. */
  logLevel?: string;
}

/** A Node with its state directory; it can be killed and started again. */
export interface Node {
  readonly name: string;
  readonly stateDir: string;
  readonly configFile: string;
  program: Program;
  /** Starts `serve` (again); does not wait for its link. */
  start(): void;
}

export function createNode(stateDir: string, edge: Edge, config: NodeConfig): Node {
  mkdirSync(stateDir, { mode: 0o700, recursive: true });
  const configFile = join(stateDir, 'node.yaml');
  const yaml = {
    name: config.name,
    state_dir: stateDir,
    edge: {
      address: `${edge.wireHost}:${config.port ?? edge.wirePort}`,
      pins: config.pins ?? [edge.pin],
      token_file: config.tokenFile ?? edge.nodeTokenFile,
      tls: edge.tls,
    },
    allow: { adapters: ['mock', 'vllm'], ...config.allow },
    log: { level: config.logLevel ?? 'debug' },
  };
  writeFileSync(configFile, JSON.stringify(yaml, undefined, 2), { mode: 0o600 });
  const node: Node = {
    name: config.name,
    stateDir,
    configFile,
    program: undefined as unknown as Program,
    start() {
      const prefix = config.prefix ?? [];
      const command = [...prefix, process.execPath, nodeMain, 'serve', '--config', configFile];
      const { env, lifeMs } = config;
      node.program = startProgram({ name: config.name, command, env, lifeMs });
    },
  };
  return node;
}
