import { connect, type Socket } from 'node:net';
import { HttpParser } from '../http/http-parser.ts';

/** Callbacks of one connection; an answer is `head`, `body`…, `end`. */
export interface ConnectionEvents {
  status(code: number): void;
  body(bytes: Buffer): void;
  end(): void;
  /** Once, also when we closed it. */
  closed(reason: string): void;
}

/** One keep-alive connection on a bare socket that reads into one buffer for ever. */
export class Connection {
  readonly #socket: Socket;
  #reason = 'the peer closed the connection';

  constructor(port: number, events: ConnectionEvents) {
    const parser = new HttpParser('response', {
      head: (head) => events.status(Number(head.slice(9, 12))),
      body: (bytes) => events.body(bytes),
      end: () => events.end(),
    });
    const onread = { buffer: Buffer.allocUnsafe(16_384), callback: this.#reader(parser) };
    this.#socket = connect({ host: '127.0.0.1', port, noDelay: true, onread });
    this.#socket.on('error', (error) => {
      this.#reason = error.message;
    });
    this.#socket.on('close', () => events.closed(this.#reason));
  }

  send(request: Buffer): void {
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #reader(parser: HttpParser): (length: number, buffer: Uint8Array) => boolean {
    return (length, buffer) => {
      try {
        parser.push((buffer as Buffer).subarray(0, length));
      } catch (error) {
        this.#reason = String(error);
        this.close();
      }
      return true;
    };
  }
}
