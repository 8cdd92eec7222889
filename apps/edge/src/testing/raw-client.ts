import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A caller that speaks bytes, for everything that an HTTP client would not do. */
export interface RawClient {
  readonly socket: Socket;
  /** Everything that has arrived, as text. */
  received(): string;
  send(text: string | Uint8Array): void;
  /** Waits until what has arrived matches; fails when the connection ends before. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with everything, when the connection has ended. */
  ended(): Promise<string>;
  destroy(): void;
}

export async function connectRaw(port: number): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  let text = '';
  let isOver = false;
  const changed = new Set<() => void>();
  function change(): void {
    for (const wake of [...changed]) wake();
  }
  socket.setEncoding('latin1');
  socket.on('data', (data: string) => {
    text += data;
    change();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isOver = true;
    change();
  });
  async function wait(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          changed.delete(wake);
          resolve();
        };
        changed.add(wake);
      });
    }
  }
  return {
    socket,
    received: () => text,
    send: (data) => socket.write(data),
    async until(pattern) {
      await wait(() => isOver || pattern.test(text));
      if (!pattern.test(text)) throw new Error(`the connection ended before ${pattern}: ${text.slice(-500)}`);
      return text;
    },
    async ended() {
      await wait(() => isOver);
      return text;
    },
    destroy: () => socket.destroy(),
  };
}

export interface RawRequest {
  method?: string;
  path?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

/** A whole HTTP/1.1 request as text. */
export function rawRequest({
  method = 'POST',
  path = '/v1/chat/completions',
  headers = {},
  body,
}: RawRequest): string {
  const fields = {
    host: '127.0.0.1',
    ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}
