import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { eventually } from './eventually.ts';
import type { ChatBody, UpstreamAct } from './upstream-act.ts';
import { playAct } from './upstream-play.ts';

/** A chat request as the upstream saw it. Times are of `performance.now()` in the test's process. */
export interface SeenRequest {
  /** Below the base URL, with its query. */
  readonly path: string;
  readonly body: ChatBody;
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
  readonly arrivedAt: number;
  /** When each chunk of a stream was written. */
  readonly sentAt: readonly number[];
  /** When the answer was closed; undefined while it is open. */
  readonly closedAt: number | undefined;
  /** The answer went out whole; false after a close means that the other side hung up (or we cut). */
  readonly finished: boolean;
}

/** A real HTTP server of the OpenAI dialect that does what a test says. Lives in the test's process. */
export interface Upstream {
  readonly port: number;
  /** Up to and including /v1. */
  readonly baseUrl: string;
  /** Chat requests in order of arrival; model listings are not among them. */
  readonly requests: readonly SeenRequest[];
  /** Requests whose answer is not closed. */
  open(): number;
  /** What to do with chat requests from now on. */
  act(act: UpstreamAct | ((request: SeenRequest) => UpstreamAct)): void;
  /** Waits for the `index`th request (from 0), or the next that has not been awaited. */
  arrival(index: number, timeoutMs?: number): Promise<SeenRequest>;
  /** Waits until the request was closed; gives the time at which it was. */
  closed(request: SeenRequest, timeoutMs?: number): Promise<number>;
  forget(): void;
  close(): Promise<void>;
}

export interface UpstreamInit {
  models?: readonly string[];
  port?: number;
  host?: string;
}

export async function startUpstream(init: UpstreamInit = {}): Promise<Upstream> {
  const host = init.host ?? '127.0.0.1';
  const requests: SeenRequest[] = [];
  let choose: (request: SeenRequest) => UpstreamAct = () => ({ kind: 'json', content: 'ok' });
  const sockets = new Set<Socket>();

  const server = createServer((request, response) => {
    if (request.method === 'GET') return listModels(response, init.models ?? ['m']);
    void takeChat(request, response, requests, (seen) => choose(seen));
  });
  server.on('connection', (socket) => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // a peer that hangs up is what these tests are about
  });
  await new Promise<void>((resolve) => server.listen(init.port ?? 0, host, resolve));
  const { port } = server.address() as AddressInfo;

  return {
    port,
    baseUrl: `http://${host}:${port}/v1`,
    requests,
    open: () => requests.filter((request) => request.closedAt === undefined).length,
    act(act) {
      choose = typeof act === 'function' ? act : () => act;
    },
    arrival: (index, timeoutMs = 5_000) =>
      eventually(`request ${index} reaches the upstream`, timeoutMs, () => requests[index]),
    closed: (request, timeoutMs = 5_000) =>
      eventually('the upstream sees the request closed', timeoutMs, () => request.closedAt),
    forget: () => void requests.splice(0),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listModels(response: ServerResponse, names: readonly string[]): void {
  const data = names.map((id) => ({ id, object: 'model', created: 1, owned_by: 'test' }));
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ object: 'list', data }));
}

async function takeChat(
  request: IncomingMessage,
  response: ServerResponse,
  requests: SeenRequest[],
  choose: (seen: SeenRequest) => UpstreamAct,
): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const text = Buffer.concat(pieces).toString('utf8');
  const seen = {
    path: (request.url ?? '').replace(/^\/v1\//, ''),
    body: JSON.parse(text) as ChatBody,
    text,
    headers: request.headers,
    arrivedAt: performance.now(),
    sentAt: [] as number[],
    closedAt: undefined as number | undefined,
    finished: false,
  };
  response.on('close', () => {
    seen.closedAt = performance.now();
    seen.finished = response.writableFinished;
  });
  requests.push(seen);
  await playAct(choose(seen), {
    body: seen.body,
    response,
    sent: () => void seen.sentAt.push(performance.now()),
    closed: () => seen.closedAt !== undefined,
  });
}
