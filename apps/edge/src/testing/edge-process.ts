import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dialTcp, dialUnix } from '@iop/link/tcp';
import type { InitResult } from '../commands/init.ts';
import { createTempDir } from './temp-dir.ts';
import { createWireNode, type WireNode } from './wire-node.ts';
import { linkOperator, type WireOperator } from './wire-operator.ts';
import { until } from './wire-world.ts';

const main = join(import.meta.dirname, '../main.ts');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `iop-edge` to its end. */
export function runEdge(...args: string[]): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { code: status, stdout, stderr };
}

/** An `iop-edge serve` of its own, with its state directory. */
export interface EdgeProcess extends AsyncDisposable {
  readonly init: InitResult;
  readonly lines: string[];
  readonly pid: number;
  /** Writes edge.yaml anew: JSON is YAML. */
  configure(config: object): void;
  /** Starts `serve` (again) and waits until it serves. */
  start(): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Waits for its end; gives the exit code, or the signal. */
  ended(): Promise<number | string>;
  url(path: string): string;
  node(name: string): WireNode;
  operator(): Promise<WireOperator>;
}

export async function createEdgeProcess(config: object = {}): Promise<EdgeProcess> {
  const dir = await createTempDir();
  const stateDir = join(dir.path, 'edge');
  const init = JSON.parse(
    runEdge('init', '--state-dir', stateDir, '--name', 'lab', '--json').stdout,
  ) as InitResult;
  const lines: string[] = [];
  let child: ChildProcess | undefined;
  let end = Promise.withResolvers<number | string>();
  let ports = { wire: 0, http: 0 };
  const nodes: WireNode[] = [];

  const process_: EdgeProcess = {
    init,
    lines,
    get pid() {
      return child?.pid ?? 0;
    },
    configure(next) {
      const base = { name: 'lab', state_dir: stateDir, wire: { port: 0 }, http: { port: 0 } };
      const adapters = [{ name: 'mock', kind: 'mock' }];
      writeFileSync(init.configFile, JSON.stringify({ ...base, adapters, ...next }));
    },
    async start() {
      lines.length = 0;
      end = Promise.withResolvers();
      child = spawn(process.execPath, [main, 'serve', '--config', init.configFile], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      child.once('exit', (code, signal) => end.resolve(signal ?? code ?? -1));
      readLines(child, lines);
      await until('it serves, or has ended', () => lines.some(isServing) || child?.exitCode !== null, 60_000);
      const serving = JSON.parse(lines.find(isServing) ?? '{}');
      ports = { wire: serving.wire?.port ?? 0, http: serving.http?.port ?? 0 };
    },
    signal: (name) => void child?.kill(name),
    ended: () => end.promise,
    url: (path) => `http://127.0.0.1:${ports.http}${path}`,
    node(name) {
      const pins = [init.pin];
      const token = readFileSync(init.nodeTokenFile, 'utf8').trim();
      const dial = (signal: AbortSignal) =>
        dialTcp({ host: '127.0.0.1', port: ports.wire, tls: true, pins })(signal);
      const node = createWireNode({ name, dial, pins, token });
      nodes.push(node);
      return node;
    },
    operator: () =>
      linkOperator({ dial: dialUnix({ path: join(stateDir, 'operator.sock') }), pins: [], token: '' }),
    async [Symbol.asyncDispose]() {
      for (const node of nodes) node.cut();
      if (child !== undefined && child.exitCode === null) {
        child.kill('SIGKILL');
        await end.promise;
      }
      await dir[Symbol.asyncDispose]();
    },
  };
  process_.configure(config);
  return process_;
}

function isServing(line: string): boolean {
  return line.includes('"iop-edge serves"');
}

function readLines(child: ChildProcess, lines: string[]): void {
  let rest = '';
  child.stderr?.setEncoding('utf8');
  child.stderr?.on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
  });
}
