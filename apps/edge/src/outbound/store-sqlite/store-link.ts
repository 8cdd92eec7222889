import { Worker } from 'node:worker_threads';
import { type Clock, IopError } from '@iop/domain';
import type { StoreAnswers, StoreAsk, StoreReply } from './messages.ts';
import type { ThreadSource } from './thread-source.ts';

/** Asks the store thread and starts it anew when it dies. */
export interface StoreLink {
  /** Rejects with an IopError: `store.unavailable`, or what the thread refused with. */
  ask<K extends StoreAsk['kind']>(
    ask: Extract<StoreAsk, { kind: K }>,
  ): Promise<K extends keyof StoreAnswers ? StoreAnswers[K] : never>;
  /** Questions without an answer yet. */
  readonly waiting: number;
  close(): Promise<void>;
}

export interface StoreLinkOptions {
  file: string;
  source: ThreadSource;
  clock: Clock;
  /** The thread died, or lives again (undefined). */
  onProblem(problem: string | undefined): void;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(reason: IopError): void;
}

const restartAfterMs = 1000;

export function createStoreLink({ file, source, clock, onProblem }: StoreLinkOptions): StoreLink {
  const waiting = new Map<number, Waiting>();
  let nextId = 1;
  let closed = false;
  let worker: Worker | undefined = startWorker();

  function startWorker(): Worker {
    const started = createWorker(source);
    started.on('message', (reply: StoreReply) => settle(reply));
    started.on('error', (reason) => died(String(reason)));
    started.on('exit', () => died('the store thread ended'));
    return started;
  }

  function settle(reply: StoreReply): void {
    const asker = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.kind === 'done') asker?.resolve(reply.value);
    else asker?.reject(refused(file, reply));
  }

  function died(why: string): void {
    if (worker === undefined) return;
    worker = undefined;
    for (const asker of waiting.values()) asker.reject(unavailable(file, why));
    waiting.clear();
    if (closed) return;
    onProblem(why);
    clock.after(restartAfterMs, restart);
  }

  function restart(): void {
    if (closed) return;
    worker = startWorker();
    ask({ kind: 'open', file, fresh: false, nowMs: clock.wall() }).then(
      () => onProblem(undefined),
      (reason: IopError) => {
        onProblem(reason.message);
        void worker?.terminate();
      },
    );
  }

  const ask: StoreLink['ask'] = (question) =>
    new Promise((resolve, reject) => {
      if (worker === undefined) {
        reject(unavailable(file, 'the store thread is being started anew'));
        return;
      }
      const id = nextId++;
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      worker.postMessage({ id, ask: question });
    });

  return {
    ask,
    get waiting() {
      return waiting.size;
    },
    async close() {
      closed = true;
      if (worker === undefined) return;
      await ask({ kind: 'close' });
    },
  };
}

function createWorker(source: ThreadSource): Worker {
  const options = {
    name: 'iop-edge-store',
    execArgv: [],
    // its garbage is small; the default young generation would cost the Edge megabytes
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 },
  };
  return source.kind === 'file'
    ? new Worker(source.url, options)
    : new Worker(source.code, { ...options, eval: true });
}

function unavailable(file: string, why: string): IopError {
  const message = `the store ${file} does not answer: ${why}`;
  return new IopError({ kind: 'unavailable', code: 'store.unavailable', message });
}

function refused(file: string, { code, message }: { code: string; message: string }): IopError {
  if (code.startsWith('config.')) return new IopError({ kind: 'invalid', code, message });
  return unavailable(file, message);
}
