import type { Socket } from 'node:net';

/** Something that has to know at once when its caller's connection ends. */
export interface Watched {
  /** The head of its answer was sent. */
  readonly hasBegun: boolean;
  callerGone(): void;
}

/**
 * Who is answering whom. One listener per connection, not per request, and it also reaches the
 * requests that are queued behind another one on a pipelined connection, which have no socket yet.
 */
export class ConnectionWatch {
  readonly #open = new WeakMap<Socket, Watched[]>();
  #count = 0;

  /** Answers under way. */
  get count(): number {
    return this.#count;
  }

  add(socket: Socket, watched: Watched): void {
    const open = this.#open.get(socket) ?? this.#watch(socket);
    open.push(watched);
    this.#count += 1;
  }

  delete(socket: Socket, watched: Watched): void {
    const open = this.#open.get(socket) ?? [];
    const at = open.indexOf(watched);
    if (at < 0) return;
    open.splice(at, 1);
    this.#count -= 1;
  }

  /** Is an answer on its way, into which nothing else may be written? */
  hasBegun(socket: Socket): boolean {
    for (const watched of this.#open.get(socket) ?? []) if (watched.hasBegun) return true;
    return false;
  }

  #watch(socket: Socket): Watched[] {
    const open: Watched[] = [];
    this.#open.set(socket, open);
    const gone = () => this.#gone(socket);
    // `end`: the caller has closed its side. Node answers by closing ours, but only after what is
    // buffered was taken; the work must not run on until then.
    socket.on('end', gone).on('close', gone);
    return open;
  }

  #gone(socket: Socket): void {
    for (const watched of [...(this.#open.get(socket) ?? [])]) {
      this.delete(socket, watched);
      watched.callerGone();
    }
  }
}
