import type { Socket } from 'node:net';
import { monotonicUs } from '../machine/monotonic.ts';
import { frameChunk, paddingChunk, streamFoot, streamFootWithUsage, streamHead } from './answers.ts';
import type { Pacer } from './pacer.ts';
import type { Script } from './script.ts';

/** No more is written while so much waits for a reader. */
const waitingLimitBytes = 1024 * 1024;

/** One paced answer on one socket. */
export class MockStream {
  readonly #socket: Socket;
  readonly #script: Script;
  readonly #foot: Buffer;
  readonly #onOver: () => void;
  readonly #padding: string | undefined;
  readonly #startUs = monotonicUs();
  #heldUs = 0;
  #index = 0;
  #finishing = false;

  constructor(socket: Socket, options: { script: Script; includeUsage: boolean; onOver: () => void }) {
    this.#socket = socket;
    this.#script = options.script;
    this.#foot = options.includeUsage ? streamFootWithUsage : streamFoot;
    this.#onOver = options.onOver;
    const { padBytes = 0 } = options.script;
    this.#padding = padBytes > 0 ? paddingChunk(padBytes) : undefined;
  }

  /** The headers leave at once, as those of a real server do. */
  start(pacer: Pacer): void {
    this.#socket.write(streamHead);
    pacer.add(() => this.#emit(), this.#script.delayMs);
  }

  /** Ends with its next frame. */
  finish(): void {
    this.#finishing = true;
  }

  #emit(): number | undefined {
    if (this.#socket.destroyed) return this.#over();
    if (this.#isLast()) {
      this.#socket.write(this.#foot);
      return this.#over();
    }
    if (this.#padding !== undefined) {
      if (this.#socket.writableLength > waitingLimitBytes) return this.#script.paceMs;
      this.#socket.write(this.#padding, 'latin1');
    }
    const nowUs = monotonicUs();
    if (this.#index === 0) this.#heldUs = nowUs - this.#startUs;
    this.#socket.write(frameChunk(this.#index++, nowUs, this.#heldUs), 'latin1');
    return this.#script.paceMs;
  }

  #isLast(): boolean {
    return this.#finishing || (this.#script.frames > 0 && this.#index >= this.#script.frames);
  }

  #over(): undefined {
    this.#onOver();
  }
}
