import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const main = join(import.meta.dirname, '../main.ts');

export interface NodeLab {
  directory: string;
  stateDir: string;
  configFile: string;
}

/** A directory with a node.yaml for an Edge, and room for the state of one Node. */
export function createLab(test: TestContext, edge: { port: number; pin: string }, extra = ''): NodeLab {
  const directory = mkdtempSync(join(tmpdir(), 'iop-node-'));
  test.after(() => rmSync(directory, { recursive: true }));
  const stateDir = join(directory, 'state');
  const configFile = join(directory, 'node.yaml');
  const tokenFile = join(directory, 'token');
  writeFileSync(tokenFile, 'the-token\n', { mode: 0o600 });
  writeFileSync(
    configFile,
    `name: node-1
state_dir: ${stateDir}
edge: { address: "127.0.0.1:${edge.port}", pins: ["${edge.pin}"], token_file: ${tokenFile} }
labels: { room: attic }
${extra}`,
  );
  return { directory, stateDir, configFile };
}

export interface NodeProcess {
  child: ChildProcess;
  output(): string;
  /** Exit code, or the signal that ended it. */
  exit: Promise<number | string>;
}

/** iop-node as its users start it; killed at the end of the test. */
export function startProcess(test: TestContext, ...args: string[]): NodeProcess {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout?.on('data', (bytes: Buffer) => (output += bytes));
  child.stderr?.on('data', (bytes: Buffer) => (output += bytes));
  test.after(() => child.kill('SIGKILL'));
  const exit = once(child, 'close').then(([code, signal]) => code ?? signal);
  return { child, output: () => output, exit };
}
