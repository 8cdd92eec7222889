import { FrameReader } from '../http/frame.ts';
import { monotonicUs } from '../machine/monotonic.ts';
import { Connection } from './connection.ts';
import type { StreamMeter } from './stream-meter.ts';

export interface StreamClientOptions {
  port: number;
  request: Buffer;
  /** Content frames that must come; undefined: as many as the mock likes. */
  frames: number | undefined;
  meter: StreamMeter;
  onFirst?(): void;
  /** Once an answer; `problem` is undefined when it was whole. */
  onOver(problem: string | undefined): void;
}

/** Reads streams from one connection, one after the other. */
export class StreamClient {
  readonly #options: StreamClientOptions;
  readonly #connection: Connection;
  #reader: FrameReader;
  #sentUs = 0;
  #arrivedUs = 0;
  #lastUs = 0;
  #status = 0;
  #refusal: string | undefined;
  #busy = false;

  constructor(options: StreamClientOptions) {
    this.#options = options;
    this.#reader = this.#newReader();
    this.#connection = new Connection(options.port, {
      status: (code) => {
        this.#status = code;
      },
      body: (bytes) => {
        this.#arrivedUs = monotonicUs();
        if (this.#status === 200) this.#reader.push(bytes);
        else this.#refusal ??= bytes.toString('latin1', 0, 200);
      },
      end: () => this.#over(this.#findProblem()),
      closed: (reason) => this.#over(`${reason} after ${this.#reader.count} frames`),
    });
  }

  send(): void {
    this.#reader = this.#newReader();
    this.#lastUs = 0;
    this.#busy = true;
    this.#sentUs = monotonicUs();
    this.#connection.send(this.#options.request);
  }

  close(): void {
    this.#connection.close();
  }

  #newReader(): FrameReader {
    return new FrameReader((stampUs, heldUs) => this.#onFrame(stampUs, heldUs));
  }

  #onFrame(stampUs: number, heldUs: number): void {
    const { meter, onFirst } = this.#options;
    if (this.#reader.count === 1) {
      meter.first(this.#arrivedUs - this.#sentUs - heldUs);
      onFirst?.();
    }
    meter.frame(this.#arrivedUs, stampUs, this.#lastUs);
    this.#lastUs = this.#arrivedUs;
  }

  #findProblem(): string | undefined {
    const { frames } = this.#options;
    if (this.#status !== 200) return `status ${this.#status}: ${this.#refusal}`;
    if (this.#reader.problem !== undefined) return this.#reader.problem;
    if (!this.#reader.done) return `no [DONE] after ${this.#reader.count} frames`;
    if (frames === undefined || this.#reader.count === frames) return undefined;
    return `${this.#reader.count} of ${frames} frames`;
  }

  #over(problem: string | undefined): void {
    if (!this.#busy) return;
    this.#busy = false;
    this.#options.onOver(problem);
  }
}
