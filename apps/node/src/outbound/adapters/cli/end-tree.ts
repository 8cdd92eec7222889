import type { Clock } from '@iop/domain';
import { membersOf, signalTree, type TreeMarks } from './process-tree.ts';

/** How long after KILL the system may take to make a process vanish; one in a system call of a dead disk never does. */
const killLimitMs = 2_000;
const lookEveryMs = 20;

/**
 * TERM → grace → KILL of a whole tree, looked for anew each time: what forks meanwhile is found too.
 *
 * @param graceMs 0: KILL at once
 * @returns how many were left over in spite of KILL
 */
export async function endTree(tree: () => TreeMarks, graceMs: number, clock: Clock): Promise<number> {
  if (graceMs > 0 && signalTree(tree(), 'SIGTERM') > 0) await goneWithin(tree, graceMs, clock);
  const untilMs = clock.now() + killLimitMs;
  for (;;) {
    const found = signalTree(tree(), 'SIGKILL');
    if (found === 0 || clock.now() >= untilMs) return found;
    await pause(clock, lookEveryMs);
  }
}

async function goneWithin(tree: () => TreeMarks, limitMs: number, clock: Clock): Promise<void> {
  const untilMs = clock.now() + limitMs;
  let waitMs = lookEveryMs;
  while (membersOf(tree()).length > 0) {
    const leftMs = untilMs - clock.now();
    if (leftMs <= 0) return;
    await pause(clock, Math.min(waitMs, leftMs));
    waitMs = Math.min(waitMs * 2, 200);
  }
}

function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve);
  });
}
