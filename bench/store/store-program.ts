/**
 * A process that holds a store and writes to it: `measure FILE` sends the figures of each pace and ends; `endless FILE
 * ACKS` writes until it is killed, and what was acknowledged goes to that file first.
 */
import { openSync, writeSync } from 'node:fs';
import process from 'node:process';
import { createSystemClock } from '@iop/shell';
import { openSqliteStore } from '../../apps/edge/src/outbound/store-sqlite/store.ts';
import { playLoad, type StoreLoad } from './store-load.ts';
import type { PaceFigures, StoreOrder } from './store-order.ts';

const load = { runs: 200, eventsPerBatch: 4, eventBytes: 230 };

async function main([mode = '', file = '', acks = '']: readonly string[]): Promise<void> {
  const store = await openSqliteStore({ file, clock: createSystemClock() });
  process.send?.('open');
  if (mode === 'endless') {
    const note = createNote(openSync(acks, 'w'));
    await playLoad(store.log, { ...load, eventsPerS: 20_000, durationMs: 60_000, salt: 'kill' }, note);
  }
  process.on('message', (order: StoreOrder) => void measure(order));
  let plays = 0;

  async function measure({ eventsPerS, durationMs }: StoreOrder): Promise<void> {
    const pace: StoreLoad = { ...load, eventsPerS, durationMs, salt: `p${++plays}` };
    const before = process.cpuUsage();
    const figures = await playLoad(store.log, pace);
    const { user, system } = process.cpuUsage(before);
    const cpuUsPerEvent = (user + system) / (figures.eventsPerS * (durationMs / 1000));
    process.send?.({ ...figures, cpuUsPerEvent } satisfies PaceFigures);
  }
}

/** One write for all that was acknowledged in one tick. */
function createNote(fd: number): (runId: string, pos: number) => void {
  let lines = '';
  return (runId, pos) => {
    if (lines === '') {
      queueMicrotask(() => {
        writeSync(fd, lines);
        lines = '';
      });
    }
    lines += `${runId} ${pos}\n`;
  };
}

await main(process.argv.slice(2));
