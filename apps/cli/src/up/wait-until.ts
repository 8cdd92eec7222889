import { setTimeout as sleep } from 'node:timers/promises';
import { IopError } from '@iop/domain';

const lookEveryMs = 50;

/** Looks until `look` gives something. @throws IopError `timeout` that says what was waited for */
export async function waitUntil<T>(
  what: string,
  look: () => Promise<T | undefined>,
  { withinMs, signal }: { withinMs: number; signal: AbortSignal },
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw tooLate(what, withinMs);
    await sleep(lookEveryMs, undefined, { signal });
  }
}

function tooLate(what: string, withinMs: number): IopError {
  const message = `${what} within ${withinMs / 1_000} s: it did not happen; the logs of the parts may say why`;
  return new IopError({ kind: 'timeout', code: 'up.timeout', message });
}
