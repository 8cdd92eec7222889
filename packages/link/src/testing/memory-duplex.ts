import type { Transport, TransportHandlers, TransportPeer } from '../transport.ts';

/** `up`: from the dialer to the acceptor. */
type Direction = 'up' | 'down';

export interface MemoryDuplexKnobs {
  /** Bytes are delivered in pieces of this size; default: as written. */
  pieceBytes?: number;
  /** Both ends are closed once so many bytes have passed in a direction. */
  cutAfterBytes?: Partial<Record<Direction, number>>;
  /** Told of every delivery. */
  onPassed?(direction: Direction, sizeBytes: number): void;
  /** More waiting than this: `write` answers false; default 64 KiB. */
  highWaterBytes?: number;
  channelBinding?: Uint8Array;
  kind?: TransportPeer['kind'];
}

export interface MemoryDuplex {
  dialer: Transport;
  acceptor: Transport;
  /** Both directions swallow everything, nobody is told: a half-open link. */
  blackhole(): void;
  /** Nothing is delivered until `release`; writers see backpressure. */
  hold(): void;
  release(): void;
}

/** Two transports back to back in one process, with knobs. Delivery is asynchronous, as with a socket. */
export function createMemoryDuplex(knobs: MemoryDuplexKnobs = {}): MemoryDuplex {
  const dialer = new MemoryTransport(knobs, 'up');
  const acceptor = new MemoryTransport(knobs, 'down');
  dialer.other = acceptor;
  acceptor.other = dialer;
  const both = [dialer, acceptor];
  return {
    dialer,
    acceptor,
    blackhole: () => {
      for (const end of both) end.blackhole();
    },
    hold: () => {
      for (const end of both) end.hold(true);
    },
    release: () => {
      for (const end of both) end.hold(false);
    },
  };
}

class MemoryTransport implements Transport {
  readonly peer: TransportPeer;
  readonly channelBinding: Uint8Array;
  other: MemoryTransport | undefined;
  readonly #knobs: MemoryDuplexKnobs;
  readonly #direction: Direction;
  #handlers: TransportHandlers | undefined;
  #outgoing: Uint8Array[] = [];
  #unsentBytes = 0;
  #budgetBytes: number;
  #paused = false;
  #held = false;
  #swallows = false;
  #ending = false;
  #closed: string | undefined;
  #deliveryDue = false;
  #wantsDrain = false;

  constructor(knobs: MemoryDuplexKnobs, direction: Direction) {
    this.#knobs = knobs;
    this.#direction = direction;
    this.#budgetBytes = knobs.cutAfterBytes?.[direction] ?? Number.POSITIVE_INFINITY;
    this.peer = { kind: knobs.kind ?? 'memory', address: 'memory' };
    this.channelBinding = knobs.channelBinding ?? new Uint8Array(32);
  }

  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  start(handlers: TransportHandlers): void {
    this.#handlers = handlers;
    if (this.#closed !== undefined) this.#tellClosed();
    this.other?.schedule();
  }

  write(chunks: readonly Uint8Array[]): boolean {
    if (this.#closed !== undefined || this.#ending) return false;
    for (const chunk of chunks) {
      this.#outgoing.push(chunk);
      this.#unsentBytes += chunk.length;
    }
    this.schedule();
    const room = this.#unsentBytes < (this.#knobs.highWaterBytes ?? 64 * 1024);
    this.#wantsDrain ||= !room;
    return room;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.other?.schedule();
  }

  end(): void {
    this.#ending = true;
    this.schedule();
  }

  destroy(): void {
    this.close('destroyed here');
    this.other?.close('closed by peer');
  }

  blackhole(): void {
    this.#swallows = true;
  }

  hold(held: boolean): void {
    this.#held = held;
    if (!held) this.schedule();
  }

  close(reason: string): void {
    if (this.#closed !== undefined || (this.#swallows && reason !== 'destroyed here')) return;
    this.#closed = reason;
    this.#outgoing = [];
    this.#unsentBytes = 0;
    setImmediate(() => this.#tellClosed());
  }

  #tellClosed(): void {
    const handlers = this.#handlers;
    this.#handlers = undefined;
    handlers?.onClosed(this.#closed ?? 'closed');
  }

  schedule(): void {
    if (this.#deliveryDue) return;
    this.#deliveryDue = true;
    setImmediate(() => {
      this.#deliveryDue = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    const receiver = this.other;
    if (receiver === undefined || this.#closed !== undefined || this.#held) return;
    if (receiver.#handlers === undefined || receiver.#paused) return;
    const chunks = this.#outgoing;
    this.#outgoing = [];
    this.#unsentBytes = 0;
    for (const chunk of chunks) this.#deliverChunk(chunk, receiver);
    if (this.#wantsDrain && this.#closed === undefined) {
      this.#wantsDrain = false;
      this.#handlers?.onDrain();
    }
    if (this.#ending && this.#unsentBytes === 0) this.#endNow(receiver);
  }

  #deliverChunk(chunk: Uint8Array, receiver: MemoryTransport): void {
    const step = this.#knobs.pieceBytes ?? chunk.length;
    for (let at = 0; at < chunk.length && this.#closed === undefined; at += step) {
      const piece = chunk.subarray(at, Math.min(at + step, chunk.length, at + this.#budgetBytes));
      this.#budgetBytes -= piece.length;
      this.#knobs.onPassed?.(this.#direction, piece.length);
      // A copy, as a socket would give: the writer's slab is not the reader's.
      if (!this.#swallows && piece.length > 0) receiver.#handlers?.onBytes(piece.slice());
      if (this.#budgetBytes <= 0) this.destroy();
    }
  }

  #endNow(receiver: MemoryTransport): void {
    this.close('closed here');
    receiver.close('closed by peer');
  }
}
