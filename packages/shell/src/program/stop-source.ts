import process from 'node:process';
import type { StopCause } from './to-exit.ts';

/** Set by a parent that holds our stdin as a pipe: its end means that the parent is gone. */
export const stopOnStdinEnd = 'IOP_STOP_ON_STDIN_END';

export interface StopSource {
  readonly signal: AbortSignal;
  /** The first thing that asked to stop. */
  readonly cause: StopCause | undefined;
  [Symbol.dispose](): void;
}

/** `onStop` is called for every request to stop, the first one included. */
export function createStopSource(onStop: (cause: StopCause, nth: number) => void): StopSource {
  const controller = new AbortController();
  let cause: StopCause | undefined;
  let count = 0;
  const stop = (why: StopCause): void => {
    cause ??= why;
    count++;
    onStop(why, count);
    controller.abort(new DOMException(`stopped by ${why}`, 'AbortError'));
  };
  const undo = [...watchSignals(stop), watchStdout(stop), watchParent(stop)];
  return {
    signal: controller.signal,
    get cause() {
      return cause;
    },
    [Symbol.dispose]() {
      for (const off of undo) off();
    },
  };
}

function watchSignals(stop: (cause: StopCause) => void): (() => void)[] {
  return (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => {
    const listener = (): void => stop(name);
    process.on(name, listener);
    return () => process.off(name, listener);
  });
}

/** `iop run … | head`: whoever read us has left, so nobody wants the rest. */
function watchStdout(stop: (cause: StopCause) => void): () => void {
  let told = false;
  const listener = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') throw error;
    if (!told) stop('stdout-closed');
    told = true;
  };
  process.stdout.on('error', listener);
  return () => process.stdout.off('error', listener);
}

function watchParent(stop: (cause: StopCause) => void): () => void {
  if (process.env[stopOnStdinEnd] !== '1') return () => {};
  // Not for our own children: they have other stdins.
  delete process.env[stopOnStdinEnd];
  const listener = (): void => stop('parent-gone');
  process.stdin.once('end', listener);
  process.stdin.once('error', listener);
  process.stdin.resume();
  return () => {
    process.stdin.off('end', listener);
    process.stdin.off('error', listener);
    process.stdin.pause();
  };
}
