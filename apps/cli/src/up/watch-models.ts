import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperatorClient, TargetView } from '@iop/client';
import { modelWords } from './welcome-words.ts';

const lookEveryMs = 3_000;

/** Says which models come and go, until `signal` fires. */
export async function watchModels(
  client: OperatorClient,
  first: readonly TargetView[],
  { out, signal }: { out: Writable; signal: AbortSignal },
): Promise<void> {
  let known = first;
  while (!signal.aborted) {
    await sleep(lookEveryMs, undefined, { signal });
    const now = await client.listTargets();
    for (const target of missingIn(known, now)) out.write(`new model: ${modelWords(target)}\n`);
    for (const target of missingIn(now, known)) out.write(`model gone: ${modelWords(target)}\n`);
    known = now;
  }
}

/** Of `all`, those that are not in `some`. */
function missingIn(some: readonly TargetView[], all: readonly TargetView[]): TargetView[] {
  const names = new Set(some.map(modelWords));
  return all.filter((target) => !names.has(modelWords(target)));
}
