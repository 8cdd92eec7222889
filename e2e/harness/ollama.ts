import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { eventually } from './eventually.ts';

/** A run as the fake Ollama saw it. */
export interface SeenAsk {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly headers: IncomingMessage['headers'];
  readonly response: ServerResponse;
  readonly closed: boolean;
  /** The answer went out whole. */
  readonly finished: boolean;
}

export type OllamaAct = (ask: SeenAsk) => void | Promise<void>;

/**
 * A fake Ollama, written from the documentation of its API; not Ollama itself. It has one model for everything,
 * `m:1b`, and one that only embeds, `e:1b`. Lives in the test's process.
 */
export interface FakeOllama {
  readonly baseUrl: string;
  /** Chats, completions and embeddings in order of arrival. */
  readonly asks: readonly SeenAsk[];
  /** What to do with them from now on. */
  act(act: OllamaAct): void;
  arrival(index: number): Promise<SeenAsk>;
  close(): Promise<void>;
}

const models: Readonly<Record<string, readonly string[]>> = {
  'm:1b': ['completion', 'tools', 'vision', 'thinking', 'insert'],
  'e:1b': ['embedding'],
};

export async function startFakeOllama(): Promise<FakeOllama> {
  const asks: SeenAsk[] = [];
  const sockets = new Set<Socket>();
  let act: OllamaAct = sendLines({ message: { role: 'assistant', content: 'ok' } });
  const server = createServer(async (request, response) => {
    const body = await readJson(request);
    const known = tellOfItself(`${request.method} ${request.url}`, body);
    if (known !== undefined) return send(response, 200, known);
    const ask = {
      path: request.url ?? '',
      body,
      headers: request.headers,
      response,
      closed: false,
      finished: false,
    };
    response.on('close', () => Object.assign(ask, { closed: true, finished: response.writableFinished }));
    asks.push(ask);
    await act(ask);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // a peer that hangs up is what some tests are about
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asks,
    act: (next) => {
      act = next;
    },
    arrival: (index) => eventually(`ask ${index} reaches Ollama`, 5_000, () => asks[index]),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Each object as a line; the last line says that it is done. */
export function sendLines(...lines: readonly Record<string, unknown>[]): OllamaAct {
  return ({ response }) => {
    beginLines(response);
    for (const line of lines) writeLine(response, line);
    writeLine(response, { done: true, done_reason: 'stop', prompt_eval_count: 7, eval_count: 3 });
    response.end();
  };
}

export function beginLines(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
}

export function writeLine(response: ServerResponse, line: Record<string, unknown>): void {
  response.write(
    `${JSON.stringify({ model: 'fake', created_at: '2026-01-01T00:00:00Z', done: false, ...line })}\n`,
  );
}

export function says(message: Record<string, unknown>): Record<string, unknown> {
  return { message: { role: 'assistant', content: '', ...message } };
}

export function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function tellOfItself(route: string, { model }: Record<string, unknown>): unknown {
  const names = Object.keys(models);
  if (route === 'GET /api/version') return { version: '0.0.0-fake' };
  if (route === 'GET /api/tags')
    return { models: names.map((name) => ({ name, model: name, digest: name })) };
  if (route === 'GET /api/ps') return { models: [] };
  return route === 'POST /api/show' ? { capabilities: models[String(model)] ?? [] } : undefined;
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return pieces.length === 0 ? {} : JSON.parse(Buffer.concat(pieces).toString());
}
