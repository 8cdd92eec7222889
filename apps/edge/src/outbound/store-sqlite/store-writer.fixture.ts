/**
 * A program that writes to a store until it is killed, and says on its output what was acknowledged, a line each:
 * `created RUN KEY`, `committed RUN POS`, `cancelled RUN`, `ended RUN POS`; also `problem TEXT`, `fine`, `refused`.
 */
import { writeSync } from 'node:fs';
import process from 'node:process';
import { formatRunId } from '@iop/domain';
import { createSystemClock, randomBytes } from '@iop/shell';
import type { LogEvent } from '../../ports/run-log.ts';
import { claimOf, creationOf } from '../../ports/run-orders.contract.ts';
import { endedRecord, recordOf } from '../../ports/run-records.contract.ts';
import { openSqliteStore, type SqliteStore } from './store.ts';

const lanes = 8;

async function main(file: string): Promise<void> {
  const clock = createSystemClock();
  const onProblem = (problem: string | undefined) =>
    say(problem === undefined ? 'fine' : `problem ${problem}`);
  const store = await openSqliteStore({ file, clock, onProblem });
  say(`ready ${process.pid}`);
  const endless = Array.from({ length: lanes }, async () => {
    for (;;) {
      await playRun(store, formatRunId(clock.wall(), randomBytes(10))).catch(() => say('refused'));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  });
  await Promise.all(endless);
}

async function playRun(store: SqliteStore, runId: string): Promise<void> {
  const key = `key-${runId}`;
  const claim = claimOf({ key, claimedAtMs: Date.now() });
  const { kind } = await store.orders.create(creationOf(runId, claim));
  if (kind === 'created') say(`created ${runId} ${key}`);
  const batches = 1 + Math.floor(Math.random() * 6);
  let pos = 0;
  for (let batch = 0; batch < batches; batch++) {
    pos = await append(store, runId, pos);
    say(`committed ${runId} ${pos}`);
  }
  if (Math.random() < 0.3) {
    await store.records.commit(recordOf({ runId, ...kept, attempts: 1, stopCause: 'operator' }));
    say(`cancelled ${runId}`);
  }
  await end(store, runId, pos + 1);
  say(`ended ${runId} ${pos + 1}`);
}

const kept = { runClass: 'detached', stored: true } as const;

function append(store: SqliteStore, runId: string, after: number): Promise<number> {
  const count = 1 + Math.floor(Math.random() * 5);
  const events = Array.from({ length: count }, (_, index) => eventAt(runId, after + index + 1));
  const lastSeq = after + count;
  return new Promise((resolve) => {
    const batch = { runId, firstPos: after + 1, events, attempt: 1, lastSeq, keepContent: true };
    store.log.append({ ...batch, committed: () => resolve(lastSeq) });
  });
}

function end(store: SqliteStore, runId: string, pos: number): Promise<void> {
  return new Promise((resolve) => {
    const record = endedRecord({ runId, ...kept, attempts: 1, lastPos: pos });
    store.records.save(record);
    const events: LogEvent[] = [{ kind: 'end', end: { kind: 'completed', finish: 'stop' } }];
    const batch = { runId, firstPos: pos, events, attempt: 0, lastSeq: 0, keepContent: true };
    store.log.append({ ...batch, committed: resolve });
  });
}

/** What every content event of a run says, so that whoever reads it knows what has to be there. */
export function eventAt(runId: string, pos: number): LogEvent {
  const text = `${runId} ${pos} `.padEnd(100 + ((pos * 997) % 3000), '.');
  return { kind: 'raw', dialect: 'openai.chat', bytes: new TextEncoder().encode(text), more: false };
}

/** At once, so that what was said was acknowledged before whatever happens next. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

if (import.meta.main) await main(process.argv[2] ?? '');
