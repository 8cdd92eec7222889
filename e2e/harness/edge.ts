import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeView } from '@iop/client';
import { eventually } from './eventually.ts';
import { call } from './http.ts';
import { type Operator, openOperator, type RunInfo } from './operator.ts';
import { freePort } from './port.ts';
import { type ProcessWishes, type Program, startProgram } from './program.ts';

export const edgeMain = join(import.meta.dirname, '../../apps/edge/src/main.ts');

/** What may stand in `edge.yaml` besides name, state directory and ports. */
export interface EdgeConfig extends ProcessWishes {
  adapters?: readonly AdapterConfig[];
  models?: readonly ({ name: string } & Record<string, unknown>)[];
  limits?: Record<string, string | number>;
  http?: Record<string, unknown>;
  wire?: { tls?: boolean; host?: string };
  /** `debug` unless said. */
  logLevel?: string;
  history?: Record<string, string>;
  /** Commands in front of the program: `prlimit …`. */
  prefix?: readonly string[];
}

export type AdapterConfig = { name: string; kind: 'mock' | 'vllm' | 'ollama' | 'cli' } & Record<
  string,
  unknown
>;

/** An Edge with its state directory; it can be killed and started again on the same ports. */
export interface Edge {
  readonly stateDir: string;
  readonly url: string;
  readonly httpPort: number;
  readonly wirePort: number;
  readonly wireHost: string;
  readonly tls: boolean;
  readonly pin: string;
  readonly nodeTokenFile: string;
  readonly operatorTokenFile: string;
  readonly socketPath: string;
  readonly configFile: string;
  /** An API key; empty before the first start. */
  apiKey: string;
  program: Program;
  /** Starts `serve` (again) and waits until it is ready. */
  start(): Promise<void>;
  operator(): Promise<Operator>;
  runs(): Promise<RunInfo[]>;
  /** Waits until these Nodes are ready and, if given, healthy for the adapter. */
  nodesReady(names: readonly string[], timeoutMs?: number): Promise<void>;
  /** Waits until the run has ended at the Edge's record. */
  runEnded(runId: string, timeoutMs?: number): Promise<RunInfo>;
}

export async function createEdge(stateDir: string, config: EdgeConfig): Promise<Edge> {
  mkdirSync(stateDir, { mode: 0o700, recursive: true });
  const httpPort = await freePort();
  const wirePort = await freePort();
  const configFile = join(stateDir, 'edge.yaml');
  writeFileSync(configFile, edgeYaml({ stateDir, httpPort, wirePort, config }), { mode: 0o600 });
  const pin = initEdge(stateDir);
  const edge: Edge = {
    stateDir,
    url: `http://127.0.0.1:${httpPort}`,
    httpPort,
    wirePort,
    wireHost: config.wire?.host ?? '127.0.0.1',
    tls: config.wire?.tls ?? true,
    pin,
    nodeTokenFile: join(stateDir, 'node.token'),
    operatorTokenFile: join(stateDir, 'operator.token'),
    socketPath: join(stateDir, 'operator.sock'),
    configFile,
    apiKey: '',
    program: undefined as unknown as Program,
    start: () => startEdge(edge, config),
    operator: () => openOperator(edge),
    async runs() {
      const operator = await edge.operator();
      try {
        return await operator.listRuns();
      } finally {
        operator.close();
      }
    },
    nodesReady: (names, timeoutMs = 60_000) => nodesReady(edge, names, timeoutMs),
    runEnded: (runId, timeoutMs = 5_000) =>
      eventually(`run ${runId} ends`, timeoutMs, async () =>
        (await edge.runs()).find((run) => run.runId === runId && run.end !== undefined),
      ),
  };
  return edge;
}

interface YamlInit {
  stateDir: string;
  httpPort: number;
  wirePort: number;
  config: EdgeConfig;
}

/** JSON is YAML. */
function edgeYaml({ stateDir, httpPort, wirePort, config }: YamlInit): string {
  const yaml = {
    name: 'lab',
    state_dir: stateDir,
    wire: { host: '127.0.0.1', port: wirePort, ...config.wire },
    http: { host: '127.0.0.1', port: httpPort, ...config.http },
    adapters: config.adapters ?? [{ name: 'mock', kind: 'mock', nodes: ['*'], targets: [{ name: 'echo' }] }],
    models: config.models ?? [],
    limits: config.limits ?? {},
    history: config.history ?? {},
    log: { level: config.logLevel ?? 'debug' },
  };
  return JSON.stringify(yaml, undefined, 2);
}

function initEdge(stateDir: string): string {
  const args = [edgeMain, 'init', '--state-dir', stateDir, '--name', 'lab', '--json'];
  const done = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 });
  if (done.status !== 0) throw new Error(`iop-edge init ended with ${done.status}: ${done.stderr}`);
  return (JSON.parse(done.stdout) as { pin: string }).pin;
}

async function startEdge(edge: Edge, { prefix = [], env, lifeMs }: EdgeConfig): Promise<void> {
  const command = [...prefix, process.execPath, edgeMain, 'serve', '--config', edge.configFile];
  edge.program = startProgram({ name: 'edge', command, env, lifeMs });
  const { program } = edge;
  await eventually('the Edge is ready', 60_000, async () => {
    if (!program.running) throw new Error('the Edge ended');
    return await isReady(edge.url);
  }).catch((cause: Error) => {
    throw new Error(`${cause.message}; it printed last:\n${program.lines.slice(-10).join('\n')}`, { cause });
  });
  if (edge.apiKey !== '') return;
  const operator = await edge.operator();
  edge.apiKey = await operator.createKey('e2e');
  operator.close();
}

async function isReady(url: string): Promise<boolean> {
  const asking = call({ url: `${url}/readyz` });
  const impatience = setTimeout(() => asking.hangUp(), 2_000);
  try {
    return (await asking.answer).status === 200;
  } catch {
    return false;
  } finally {
    clearTimeout(impatience);
  }
}

/** A Node that has just linked may not have told yet what it offers. */
function offersAll({ adapters }: NodeView): boolean {
  return adapters.length > 0 && adapters.every(({ healthy, targets }) => healthy && targets.length > 0);
}

async function nodesReady(edge: Edge, names: readonly string[], timeoutMs: number): Promise<void> {
  const operator = await edge.operator();
  let seen = '';
  try {
    await eventually(`Nodes ${names.join(', ')} are ready`, timeoutMs, async () => {
      const nodes = await operator.listNodes();
      seen = JSON.stringify(nodes, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
      return names.every((name) =>
        nodes.some((node) => node.name === name && node.state === 'ready' && offersAll(node)),
      );
    });
  } catch (cause) {
    throw new Error(`${(cause as Error).message}; seen: ${seen}`, { cause });
  } finally {
    operator.close();
  }
}

export function readToken(file: string): string {
  return readFileSync(file, 'utf8').trim();
}
