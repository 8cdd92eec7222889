import type { Readable } from 'node:stream';
import type { Clock, RunFailure, Usage } from '@iop/domain';
import type { EventSink, RuntimeEvent } from '@iop/runtime';
import type { ChildOutput, OutputStep } from './child-output.ts';
import { cliFailure } from './exit-verdict.ts';

export interface ReaderInit {
  stream: Readable;
  output: ChildOutput;
  sink: EventSink;
  clock: Clock;
  program: string;
  maxBytes: number;
  /** A byte came, or there is room again. */
  progress(): void;
  /** Nothing after this counts. */
  verdict(verdict: Exclude<OutputStep['verdict'], 'more'>): void;
  closed(): void;
}

/** Reads stdout as fast as the caller takes it, and no faster (C8, C9). */
export class OutputReader {
  hasOutput = false;
  /** Waiting for the caller. */
  isPaused = false;
  /** The output is at its end. */
  isClosed = false;
  /** When it last began to read. */
  readsSinceMs: number;
  readonly #init: ReaderInit;
  #sizeBytes = 0;
  #isStopped = false;

  constructor(init: ReaderInit) {
    this.#init = init;
    this.readsSinceMs = init.clock.now();
    init.stream.on('data', (chunk: Buffer) => this.#data(chunk));
    init.stream.on('error', () => {});
    init.stream.on('close', () => this.#closed());
  }

  get usage(): Usage | undefined {
    return this.#init.output.usage;
  }

  /** Emits what is held of the last line; the failure if the output must not end here. */
  finish(): RunFailure | undefined {
    if (this.#isStopped) return undefined;
    const { events, verdict } = this.#init.output.finish();
    this.#emit(events);
    return typeof verdict === 'object' ? verdict.failure : undefined;
  }

  /** Nothing is emitted from now on (A3). */
  stop(): void {
    this.#isStopped = true;
    this.#init.stream.destroy();
  }

  #data(chunk: Buffer): void {
    if (this.#isStopped) return;
    this.#init.progress();
    this.#sizeBytes += chunk.length;
    const { events, verdict } = this.#take(chunk);
    const hasRoom = this.#emit(events);
    if (verdict !== 'more') this.#init.verdict(verdict);
    else if (!hasRoom) this.#pause();
  }

  #take(chunk: Buffer): OutputStep {
    const { output, maxBytes, program } = this.#init;
    if (this.#sizeBytes <= maxBytes) return output.push(chunk);
    const message = `${program} put out more than ${maxBytes} bytes`;
    return { events: [], verdict: { failure: cliFailure('exhausted', 'cli.output-too-large', message) } };
  }

  #emit(events: readonly RuntimeEvent[]): boolean {
    let hasRoom = true;
    for (const event of events) hasRoom = this.#init.sink.emit(event);
    if (events.length > 0) this.hasOutput = true;
    return hasRoom;
  }

  #pause(): void {
    const { stream, sink, clock, progress } = this.#init;
    this.isPaused = true;
    stream.pause();
    sink.whenDrained(() => {
      if (this.#isStopped) return;
      this.isPaused = false;
      this.readsSinceMs = clock.now();
      progress();
      stream.resume();
    });
  }

  #closed(): void {
    this.isClosed = true;
    if (!this.#isStopped) this.#init.closed();
  }
}
