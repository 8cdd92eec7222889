import type { Socket } from 'node:net';
import type { Transport, TransportHandlers, TransportPeer } from '../transport.ts';

const noBinding = new Uint8Array(32);

/** A `Transport` over any connected socket of Node: TLS, TCP or Unix. */
export class SocketTransport implements Transport {
  readonly peer: TransportPeer;
  readonly channelBinding: Uint8Array;
  readonly #socket: Socket;
  #handlers: TransportHandlers | undefined;
  #closeReason: string | undefined;

  constructor(socket: Socket, peer: TransportPeer, channelBinding: Uint8Array = noBinding) {
    this.#socket = socket;
    this.peer = peer;
    this.channelBinding = channelBinding;
    // Errors are told by `close`, which always follows; an unheard 'error' would end the process.
    socket.on('error', (error) => {
      this.#closeReason ??= 'code' in error ? String(error.code) : error.message;
    });
    socket.on('close', () => this.#onClose());
  }

  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  start(handlers: TransportHandlers): void {
    this.#handlers = handlers;
    const socket = this.#socket;
    socket.on('data', (bytes: Buffer) => handlers.onBytes(bytes));
    socket.on('drain', () => handlers.onDrain());
    socket.on('end', () => {
      this.#closeReason ??= 'closed by peer';
    });
    if (socket.closed) process.nextTick(() => this.#onClose());
  }

  write(chunks: readonly Uint8Array[]): boolean {
    const socket = this.#socket;
    if (!socket.writable) return false;
    if (chunks.length === 1) return socket.write(chunks[0] as Uint8Array);
    socket.cork();
    let room = true;
    for (const chunk of chunks) room = socket.write(chunk);
    socket.uncork();
    return room;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  end(): void {
    this.#closeReason ??= 'closed here';
    this.#socket.end();
  }

  destroy(): void {
    this.#closeReason ??= 'destroyed here';
    this.#socket.destroy();
  }

  #onClose(): void {
    const handlers = this.#handlers;
    this.#handlers = undefined;
    handlers?.onClosed(this.#closeReason ?? 'closed by peer');
  }
}
