import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../harness/eventually.ts';

/** A request as it reached the engine, and what the engine answered. Times by `performance.now()`. */
export interface Tapped {
  readonly body: string;
  readonly status: number;
  /** What the engine has answered so far, without the framing of HTTP. */
  readonly answer: string;
  /** When whoever asked closed the connection before the answer was whole. */
  readonly hungUpAt: number | undefined;
}

/** Stands before the engine, passes everything on and remembers the chat requests. */
export interface Tap {
  readonly port: number;
  readonly baseUrl: string;
  /** Chat completions, in order of arrival. */
  readonly chats: readonly Tapped[];
  /** Waits until the `index`th chat completion arrived. */
  chat(index: number): Promise<Tapped>;
  close(): Promise<void>;
}

interface Recording {
  body: string;
  status: number;
  answer: string;
  hungUpAt: number | undefined;
}

export async function startTap(engineOrigin: string): Promise<Tap> {
  const chats: Recording[] = [];
  const server = createServer((asked, response) => void pass(asked, response, engineOrigin, chats));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    chats,
    chat: (index) => eventually(`chat ${index} reaches the engine`, 20_000, () => chats[index]),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function pass(
  asked: IncomingMessage,
  response: ServerResponse,
  engineOrigin: string,
  chats: Recording[],
): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of asked) pieces.push(piece as Buffer);
  const body = Buffer.concat(pieces);
  const seen: Recording = { body: body.toString('utf8'), status: 0, answer: '', hungUpAt: undefined };
  if (asked.url?.endsWith('/chat/completions')) chats.push(seen);
  const { method = 'GET', headers, url: path = '/' } = asked;
  const { 'transfer-encoding': _chunked, ...kept } = headers;
  const onward = httpRequest(engineOrigin + path, {
    method,
    headers: { ...kept, 'content-length': body.length, connection: 'close' },
    agent: false,
  });
  response.on('close', () => {
    if (!response.writableFinished) seen.hungUpAt = performance.now();
    onward.destroy();
  });
  onward.on('error', () => response.destroy());
  onward.on('response', (answer) => relay(answer, response, seen));
  onward.end(body);
}

function relay(answer: IncomingMessage, response: ServerResponse, seen: Recording): void {
  seen.status = answer.statusCode ?? 0;
  const {
    connection: _close,
    'keep-alive': _keep,
    'transfer-encoding': _chunked,
    ...headers
  } = answer.headers;
  response.writeHead(answer.statusCode ?? 502, headers);
  response.flushHeaders();
  const text = new TextDecoder();
  answer.on('data', (piece: Buffer) => {
    seen.answer += text.decode(piece, { stream: true });
    response.write(piece);
  });
  answer.on('end', () => response.end());
  answer.on('error', () => response.destroy());
  answer.on('close', () => {
    if (!answer.complete) response.destroy();
  });
}
