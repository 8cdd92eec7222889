import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSystemClock } from '@iop/shell';
import { plain, readAll } from '../../ports/run-log.contract.ts';
import { claimOf, creationOf } from '../../ports/run-orders.contract.ts';
import { openSqliteStore, type SqliteStore } from './store.ts';
import { eventAt } from './store-writer.fixture.ts';

const program = new URL('./store-writer.fixture.ts', import.meta.url).pathname;

/** A program that writes to a store, perhaps under another one, and what it said. */
export interface WritingProcess {
  lines(): string[];
  /** Waits for so many lines that begin with that word. */
  said(word: string, count?: number): Promise<void>;
  kill(): Promise<void>;
}

/** What it says goes to a file, as a pipe may be full when it is killed. */
export function startWriting(file: string, under: readonly string[] = []): WritingProcess {
  const [command = '', ...args] = [...under, process.execPath, program, file];
  const output = `${file}.said-${++started}`;
  const child = spawn(command, args, { stdio: ['ignore', openSync(output, 'w'), 'inherit'] });
  const lines = () => readFileSync(output, 'utf8').split('\n').slice(0, -1);
  return {
    lines,
    async said(word, count = 1) {
      while (lines().filter((line) => line.startsWith(word)).length < count) {
        assert.equal(child.exitCode, null, `it ended: ${lines().at(-1)}`);
        await sleep(10);
      }
    },
    kill: () => kill(child, lines()),
  };
}

let started = 0;

/** The program itself, by its pid: under another one that is not the child's. */
async function kill(child: ChildProcess, lines: readonly string[]): Promise<void> {
  const closed = once(child, 'exit');
  const pid = Number(lines.find((line) => line.startsWith('ready'))?.split(' ')[1] ?? child.pid);
  process.kill(pid, 'SIGKILL');
  await closed;
}

/** Opens the store and holds what is there against what was acknowledged. */
export async function assertAcked(file: string, lines: readonly string[]): Promise<void> {
  const store = await openSqliteStore({ file, clock: createSystemClock() });
  try {
    for (const line of lines) await assertLine(store, line.split(' '));
    await assertWhole(store);
  } finally {
    await store.close();
  }
}

async function assertLine(
  store: SqliteStore,
  [word, runId = '', detail = '']: readonly string[],
): Promise<void> {
  const what = `${word} ${runId} ${detail}`;
  if (word === 'created') {
    assert.ok(await store.records.find(runId), what);
    assert.ok(await store.orders.find(runId), what);
    const claim = claimOf({ key: detail, claimedAtMs: Date.now() });
    const outcome = await store.orders.create(creationOf(`${runId}-again`, claim));
    assert.deepEqual(outcome, { kind: 'claimed', runId, bodyHash: 'aa' }, what);
  } else if (word === 'cancelled') {
    const record = await store.records.find(runId);
    assert.ok(record?.stopCause === 'operator' || record?.state === 'completed', what);
  } else if (word === 'ended') {
    const record = await store.records.find(runId);
    assert.deepEqual([record?.state, record?.lastPos], ['completed', Number(detail)], what);
    assert.equal((await readAll(store.log, runId)).length, Number(detail), what);
  } else if (word === 'committed') {
    assert.ok((await readAll(store.log, runId)).length >= Number(detail), what);
  }
}

/** Nothing is torn: every log is without gaps and holds what it has to; ended runs have their end, others none. */
async function assertWhole(store: SqliteStore): Promise<void> {
  let before: string | undefined;
  for (;;) {
    const records = await store.records.list({ limit: 1000, states: [], before });
    for (const { runId, state, lastPos } of records) {
      const log = await readAll(store.log, runId);
      const hasEnded = state === 'completed';
      assert.deepEqual(
        log.map(({ pos }) => pos),
        Array.from(log, (_, index) => index + 1),
        runId,
      );
      assert.equal(log.at(-1)?.event.kind === 'end', hasEnded, runId);
      if (hasEnded) assert.equal(log.length, lastPos, runId);
      const content = hasEnded ? log.slice(0, -1) : log;
      assert.deepEqual(
        plain(content.map(({ event }) => event)),
        plain(content.map(({ pos }) => eventAt(runId, pos))),
      );
    }
    if (records.length < 1000) return;
    before = records.at(-1)?.runId;
  }
}
