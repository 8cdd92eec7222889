import { setTimeout as sleep } from 'node:timers/promises';
import type { RunState } from '@iop/domain';
import type { Ask } from '../history/ask.ts';
import { wallMs } from '../wall.ts';
import type { Caller } from './caller.ts';

const patienceMs = 12_000;

/** Some runs are stopped by their caller, once it knows which they are; asked again until somebody answers. */
export async function maybeCancel(
  caller: Caller,
  ask: Ask,
  send: (runId: string) => Promise<RunState>,
): Promise<void> {
  if (caller.random() >= 0.2) return;
  await sleep(caller.random() * 1_500);
  if (ask.runId === undefined || ask.endedAtMs !== 0) return;
  const cancel = { askedAtMs: wallMs(), answeredAtMs: undefined, state: undefined };
  ask.cancel = cancel;
  while (wallMs() - cancel.askedAtMs < patienceMs) {
    try {
      const state = await send(ask.runId);
      Object.assign(cancel, { state, answeredAtMs: wallMs() });
      return;
    } catch {
      await sleep(200);
    }
  }
}
