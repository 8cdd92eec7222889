/**
 * As much of HTTP/1.1 framing as the mock and the load generators need, over reused read buffers:
 * `body` gets a view that is valid only during the call. Throws on what it cannot frame.
 */
export interface HttpEvents {
  /** @param head start line and headers, without the empty line */
  head(head: string): void;
  body(bytes: Buffer): void;
  end(): void;
}

type State = 'head' | 'fixed' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer';

const maxHeadBytes = 65_536;
const headEnd = Buffer.from('\r\n\r\n');

export class HttpParser {
  readonly #kind: 'request' | 'response';
  readonly #events: HttpEvents;
  #state: State = 'head';
  /** Start of a head whose end has not arrived yet. */
  #tail: Buffer | undefined;
  /** Bytes to come: of the body, of the chunk, or of the line end after a chunk. */
  #left = 0;
  #inExtension = false;
  #lineLength = 0;

  constructor(kind: 'request' | 'response', events: HttpEvents) {
    this.#kind = kind;
    this.#events = events;
  }

  push(input: Buffer): void {
    let at = 0;
    while (at < input.length) at = this.#step(input, at);
  }

  #step(input: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(input, at);
      case 'fixed':
      case 'chunk':
        return this.#readBody(input, at);
      case 'chunk-size':
        return this.#readSize(input, at);
      case 'chunk-end':
        return this.#skipLineEnd(input, at);
      case 'trailer':
        return this.#skipTrailer(input, at);
    }
  }

  #readHead(input: Buffer, at: number): number {
    const before = this.#tail?.length ?? 0;
    const bytes =
      this.#tail === undefined ? input.subarray(at) : Buffer.concat([this.#tail, input.subarray(at)]);
    const end = bytes.indexOf(headEnd);
    if (end < 0) {
      if (bytes.length > maxHeadBytes) throw new Error(`HTTP head larger than ${maxHeadBytes} bytes`);
      this.#tail = Buffer.from(bytes);
      return input.length;
    }
    this.#tail = undefined;
    const head = bytes.toString('latin1', 0, end);
    this.#events.head(head);
    this.#beginBody(head);
    return at + end + headEnd.length - before;
  }

  #beginBody(head: string): void {
    if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
      this.#beginChunk();
      return;
    }
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined && this.#kind === 'response') throw new Error('response without a length');
    this.#left = Number(length ?? 0);
    if (this.#left === 0) this.#finish();
    else this.#state = 'fixed';
  }

  #beginChunk(): void {
    this.#state = 'chunk-size';
    this.#left = 0;
    this.#inExtension = false;
  }

  #readBody(input: Buffer, at: number): number {
    const end = Math.min(input.length, at + this.#left);
    this.#left -= end - at;
    this.#events.body(input.subarray(at, end));
    if (this.#left > 0) return end;
    if (this.#state === 'fixed') {
      this.#finish();
    } else {
      this.#state = 'chunk-end';
      this.#left = 2;
    }
    return end;
  }

  #readSize(input: Buffer, from: number): number {
    for (let at = from; at < input.length; at++) {
      const byte = input[at] ?? 0;
      if (byte === 0x0a) {
        this.#state = this.#left === 0 ? 'trailer' : 'chunk';
        this.#lineLength = 0;
        return at + 1;
      }
      if (byte === 0x3b) this.#inExtension = true;
      if (byte !== 0x0d && !this.#inExtension) this.#left = this.#left * 16 + hexDigit(byte);
    }
    return input.length;
  }

  #skipLineEnd(input: Buffer, at: number): number {
    const end = Math.min(input.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#beginChunk();
    return end;
  }

  #skipTrailer(input: Buffer, from: number): number {
    for (let at = from; at < input.length; at++) {
      const byte = input[at];
      if (byte === 0x0d) continue;
      if (byte !== 0x0a) {
        this.#lineLength++;
      } else if (this.#lineLength === 0) {
        this.#finish();
        return at + 1;
      } else {
        this.#lineLength = 0;
      }
    }
    return input.length;
  }

  #finish(): void {
    this.#state = 'head';
    this.#events.end();
  }
}

function hexDigit(byte: number): number {
  const value = Number.parseInt(String.fromCharCode(byte), 16);
  if (Number.isNaN(value)) throw new Error(`bad chunk size: byte ${byte}`);
  return value;
}
