import { setTimeout as sleep } from 'node:timers/promises';
import type { DetachedAsk, Door } from './doors.ts';

/** As a client that means it: asks again with the same key until it is told what became of it. Gives the run. */
export async function insist(door: Door, ask: DetachedAsk & { key: string }): Promise<string> {
  const until = performance.now() + 90_000;
  for (let last = 'nothing'; ; await sleep(100)) {
    if (performance.now() > until) throw new Error(`${door.name} never took ${ask.key}; last: ${last}`);
    try {
      const { status, runId } = await door.post(ask);
      if (status < 300) return runId;
      if (status < 500 && status !== 429)
        throw new TypeError(`${door.name} answered ${status} to ${ask.key}`);
      last = String(status);
    } catch (reason) {
      if (reason instanceof TypeError) throw reason;
      last = String(reason);
    }
  }
}
