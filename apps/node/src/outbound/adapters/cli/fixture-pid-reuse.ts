// Runs as the first process of a pid namespace of its own: a number that a run of before had is given
// to a foreign process, with a group of its own, and the ledger is swept. Prints what became of it, as JSON.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { createTestClock } from '@iop/link/testing';
import { identityOf, isRunning } from '@iop/shell';
import { OrphanLedger } from './orphan-ledger.ts';
import { sweepOrphans } from './orphan-sweep.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

await main(process.argv[2] ?? '');

async function main(directory: string): Promise<void> {
  const ledger = new OrphanLedger(directory);
  const first = spawn('/bin/sleep', ['0'], { detached: true, stdio: 'ignore' });
  const leader = identityOf(first.pid ?? 0);
  const entry = ledger.open({ runId: 'r1', attempt: 1, mark: 'a'.repeat(32), cgroup: '' });
  entry.started(leader);
  await once(first, 'exit');
  const foreign = await takeNumber(leader.pid);
  // As a Node that comes after the one that wrote it.
  const later = new OrphanLedger(directory);
  await sweepOrphans({ ledger: later, clock: createTestClock(), log: silent });
  const answered = { pid: leader.pid, foreign: foreign.pid, left: later.left().length };
  const survived = isRunning(identityOf(leader.pid));
  process.stdout.write(`${JSON.stringify({ ...answered, survived })}\n`, () => process.exit(0));
}

/** Starts processes until one has this number; each ends by itself. */
async function takeNumber(pid: number) {
  for (let tries = 0; tries < 100; tries++) {
    writeFileSync('/proc/sys/kernel/ns_last_pid', String(pid - 1));
    const child = spawn('/bin/sleep', ['20'], { detached: true, stdio: 'ignore' });
    if (child.pid === pid) return child;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  throw new Error(`no process got the number ${pid}`);
}
