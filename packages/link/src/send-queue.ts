import { FrameWriter } from '@iop/wire';
import type { Lane, LinkMessage } from './link.ts';
import type { Transport } from './transport.ts';

/** Data that is handed to the socket before it is asked again whether it has room. */
const dataSliceBytes = 64 * 1024;

/**
 * What waits for the socket, in two lanes (L6). `flush` writes everything that may leave in one write (L7):
 * all control frames, and data as long as the socket has room.
 */
export class SendQueue {
  readonly #control = new FrameWriter();
  readonly #data = new FrameWriter();
  readonly #transport: Transport;
  #blocked = false;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  get dataBytes(): number {
    return this.#data.sizeBytes;
  }

  /** Control frames that neither the socket nor the kernel has taken. */
  get controlBacklogBytes(): number {
    return this.#blocked ? this.#control.sizeBytes + this.#transport.unsentBytes : this.#control.sizeBytes;
  }

  append(message: LinkMessage, lane: Lane): void {
    (lane === 'control' ? this.#control : this.#data).append(message);
  }

  flush(): void {
    let chunks = this.#control.take();
    if (!this.#blocked && this.#data.sizeBytes > 0)
      chunks = chunks.concat(this.#data.takeUpTo(dataSliceBytes));
    if (chunks.length > 0) this.#blocked = !this.#transport.write(chunks) || this.#blocked;
    while (!this.#blocked && this.#data.sizeBytes > 0) {
      this.#blocked = !this.#transport.write(this.#data.takeUpTo(dataSliceBytes));
    }
  }

  /** The socket has room again. */
  unblock(): void {
    this.#blocked = false;
  }

  trim(): void {
    this.#control.trim();
    this.#data.trim();
  }
}
