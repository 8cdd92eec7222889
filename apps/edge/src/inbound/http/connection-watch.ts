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
  readonly #open = new WeakMap<Socket, Set<Watched>>();
  #count = 0;

  /** Answers under way. */
  get count(): number {
    return this.#count;
  }

  add(socket: Socket, watched: Watched): void {
    const set = this.#open.get(socket) ?? this.#watch(socket);
    set.add(watched);
    this.#count += 1;
  }

  delete(socket: Socket, watched: Watched): void {
    if (this.#open.get(socket)?.delete(watched)) this.#count -= 1;
  }

  /** Is an answer on its way, into which nothing else may be written? */
  hasBegun(socket: Socket): boolean {
    for (const watched of this.#open.get(socket) ?? []) if (watched.hasBegun) return true;
    return false;
  }

  #watch(socket: Socket): Set<Watched> {
    const set = new Set<Watched>();
    this.#open.set(socket, set);
    const gone = () => this.#gone(socket);
    // `end`: the caller has closed its side. Node answers by closing ours, but only after what is
    // buffered was taken; the work must not run on until then.
    socket.on('end', gone).on('close', gone);
    return set;
  }

  #gone(socket: Socket): void {
    const set = this.#open.get(socket);
    if (set === undefined) return;
    for (const watched of [...set]) {
      this.delete(socket, watched);
      watched.callerGone();
    }
  }
}
