import { Worker } from 'node:worker_threads';
import { type Clock, type ErrorDetails, IopError, isIopError } from '@iop/domain';
import type { StoreAnswers, StoreAsk, StoreContent, StoreReply } from './messages.ts';
import type { ThreadSource } from './thread-source.ts';

/** Asks the store thread and starts it anew when it dies. */
export interface StoreLink {
  /** Rejects with an IopError: `store.unavailable`, or what the thread refused with. */
  ask<K extends StoreAsk['kind']>(
    ask: Extract<StoreAsk, { kind: K }>,
    moved?: readonly ArrayBuffer[],
  ): Promise<AnswerTo<K>>;
  /** Once at the start; later the link opens by itself. */
  open(fresh: boolean): Promise<StoreContent>;
  close(): Promise<void>;
}

type AnswerTo<K> = K extends keyof StoreAnswers ? StoreAnswers[K] : never;

export interface StoreLinkOptions {
  file: string;
  source: ThreadSource;
  /** What ends the log of a run that was cut, encoded. */
  restartedEvent: Uint8Array;
  walLimitBytes: number;
  clock: Clock;
  /** The thread died, or lives again (undefined). */
  onProblem(problem: string | undefined): void;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(reason: IopError): void;
}

const restartAfterMs = 1000;

export function createStoreLink(options: StoreLinkOptions): StoreLink {
  return new WorkerLink(options);
}

class WorkerLink implements StoreLink {
  readonly #options: StoreLinkOptions;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #closed = false;
  #worker: Worker | undefined;

  constructor(options: StoreLinkOptions) {
    this.#options = options;
    this.#worker = this.#startWorker();
  }

  ask<K extends StoreAsk['kind']>(
    question: Extract<StoreAsk, { kind: K }>,
    moved: readonly ArrayBuffer[] = [],
  ): Promise<AnswerTo<K>> {
    return new Promise((resolve, reject) => {
      if (this.#worker === undefined) {
        reject(unavailable(this.#options.file, 'the store thread is being started anew'));
        return;
      }
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#worker.postMessage({ id, ask: question }, moved as ArrayBuffer[]);
    });
  }

  open(fresh: boolean): Promise<StoreContent> {
    const { file, clock, restartedEvent, walLimitBytes } = this.#options;
    return this.ask({ kind: 'open', file, fresh, nowMs: clock.wall(), restartedEvent, walLimitBytes });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#worker !== undefined) await this.ask({ kind: 'close' });
  }

  #startWorker(): Worker {
    const worker = createWorker(this.#options.source);
    worker.on('message', (reply: StoreReply) => this.#settle(reply));
    worker.on('error', (reason) => this.#died(worker, String(reason)));
    worker.on('exit', () => this.#died(worker, 'the store thread ended'));
    return worker;
  }

  #settle(reply: StoreReply): void {
    const asker = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.kind === 'done') asker?.resolve(reply.value);
    else asker?.reject(refused(this.#options.file, reply));
  }

  #died(worker: Worker, why: string): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    const { file, clock, onProblem } = this.#options;
    for (const asker of this.#waiting.values()) asker.reject(unavailable(file, why, { answered: false }));
    this.#waiting.clear();
    if (this.#closed) return;
    onProblem(why);
    clock.after(restartAfterMs, () => this.#restart());
  }

  #restart(): void {
    if (this.#closed) return;
    const { onProblem } = this.#options;
    const worker = this.#startWorker();
    this.#worker = worker;
    this.open(false).then(
      () => onProblem(undefined),
      (reason: IopError) => {
        onProblem(reason.message);
        void worker.terminate();
      },
    );
  }
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

/** The thread died with it: it may be written or not. */
export function isUnanswered(reason: unknown): boolean {
  return isIopError(reason) && reason.details.answered === false;
}

function unavailable(file: string, why: string, details: ErrorDetails = {}): IopError {
  const message = `the store ${file} does not answer: ${why}`;
  return new IopError({ kind: 'unavailable', code: 'store.unavailable', message, details });
}

function refused(file: string, { code, message }: { code: string; message: string }): IopError {
  if (code.startsWith('config.')) return new IopError({ kind: 'invalid', code, message });
  return unavailable(file, message);
}
