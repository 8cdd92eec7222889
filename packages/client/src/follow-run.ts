import { type Clock, type IopError, toIopError } from '@iop/domain';
import type { OperatorClient } from './operator-client.ts';
import type { RunUpdate } from './started-run.ts';

export interface FollowOptions {
  /** Links anew; called again whenever the link is lost. */
  connect(signal: AbortSignal): Promise<OperatorClient>;
  clock: Pick<Clock, 'after'>;
  /** From 0 to 1: so that many who lost the same Edge do not come back at once. */
  random(): number;
  signal: AbortSignal;
  /** The link is lost; the next try is after `delayMs`. */
  onLost?(reason: IopError, delayMs: number): void;
}

const firstDelayMs = 250;
const longestDelayMs = 10_000;

/**
 * Watches a run to its end, across lost links and restarts of the Edge: every event once and in order. A first link
 * that cannot be had, a run that is unknown and the like are thrown; after `signal` it ends without an end.
 */
export async function* followRun(
  runId: string,
  afterPos: number,
  options: FollowOptions,
): AsyncGenerator<RunUpdate> {
  const { signal, random, onLost } = options;
  const place = { pos: afterPos, hasBegun: false };
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      for await (const update of watchFrom(runId, place, options)) {
        tries = 0;
        yield update;
      }
      return;
    } catch (caught) {
      const reason = toIopError(caught);
      if (signal.aborted) return;
      if (!place.hasBegun || !mayComeBack(reason)) throw reason;
      const delayMs = random() * Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(tries, 10));
      onLost?.(reason, delayMs);
      await pause(options, delayMs);
    }
  }
}

/** One link's part of it; `place` says how far it came. */
async function* watchFrom(
  runId: string,
  place: { pos: number; hasBegun: boolean },
  { connect, signal }: FollowOptions,
): AsyncGenerator<RunUpdate> {
  using client = await connect(signal);
  const watch = await client.watchRun(runId, place.pos);
  place.hasBegun = true;
  for await (const update of untilAborted(watch.updates, signal)) {
    place.pos = reachOf(update) ?? place.pos;
    yield update;
    if (update.kind === 'end') return;
  }
}

function reachOf(update: RunUpdate): number | undefined {
  if (update.kind === 'event') return update.pos;
  return update.kind === 'gap' ? update.toPos : undefined;
}

function mayComeBack({ kind }: IopError): boolean {
  return kind === 'unavailable' || kind === 'timeout';
}

/** Ends, without an end, when the signal says so. */
async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const aborted = Promise.withResolvers<'aborted'>();
  const abort = (): void => aborted.resolve('aborted');
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted.promise]);
      if (next === 'aborted' || next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function pause({ clock, signal }: FollowOptions, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(delayMs, done);
    signal.addEventListener('abort', done, { once: true });
  });
}
