import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestProblem } from './fake-ollama-request.ts';
import { answerStatus, type Exchange, type Play, toExchange } from './scripted-upstream.ts';

export interface FakeModel {
  capabilities?: readonly string[];
  /** What it was trained for; undefined: not said. */
  trainedContext?: number;
  /** Loaded with so many tokens; undefined: not loaded. */
  loadedContext?: number;
}

export interface FakeOllama {
  baseUrl: string;
  port: number;
  /** POSTs of /api/chat, /api/generate and /api/embed, oldest first. */
  readonly runs: readonly Exchange[];
  /** Runs whose answer has not ended and whose caller is still there. */
  openRuns(): number;
  /** `GET /api/tags` …, everything but runs. */
  readonly asked: readonly string[];
  /** What it has on its disk. */
  readonly models: Map<string, FakeModel>;
  close(): Promise<void>;
}

/**
 * A fake Ollama, written from Ollama's documentation of its API and what is known of its errors; not
 * Ollama itself. A real HTTP server on a real socket, as strict about requests as the documented types.
 * @param plays what a run with each model does
 */
export async function startFakeOllama(plays: Readonly<Record<string, Play>>, port = 0): Promise<FakeOllama> {
  const runs: Exchange[] = [];
  const asked: string[] = [];
  const open = new Set<Exchange>();
  const sockets = new Set<Socket>();
  const models = new Map<string, FakeModel>(Object.keys(plays).map((name) => [name, {}]));
  const run = (exchange: Exchange): void => {
    runs.push(exchange);
    open.add(exchange);
    void exchange.over.then(() => open.delete(exchange));
    const { model } = exchange.json;
    const problem = requestProblem(exchange.path, exchange.json);
    const missing = answerStatus(404, { error: `model '${model}' not found` });
    void (problem === undefined ? (plays[String(model)] ?? missing) : answerStatus(400, { error: problem }))(
      exchange,
    );
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const exchange = toExchange(request.url ?? '', request.headers, Buffer.concat(parts), response);
      const route = `${request.method} ${request.url}`;
      if (runRoutes.has(route)) {
        run(exchange);
        return;
      }
      asked.push(route);
      const { status, body } = replyTo(route, exchange, models);
      void answerStatus(status, body)(exchange);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const bound = (server.address() as AddressInfo).port;
  return {
    baseUrl: `http://127.0.0.1:${bound}`,
    port: bound,
    runs,
    openRuns: () => open.size,
    asked,
    models,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const runRoutes: ReadonlySet<string> = new Set(['POST /api/chat', 'POST /api/generate', 'POST /api/embed']);

function replyTo(
  route: string,
  { json }: Exchange,
  models: ReadonlyMap<string, FakeModel>,
): { status: number; body: unknown } {
  if (route === 'GET /api/version') return ok({ version: '0.0.0-fake' });
  if (route === 'GET /api/tags') return ok({ models: [...models.keys()].map(toCard) });
  if (route === 'GET /api/ps') {
    const loaded = [...models].filter(([, { loadedContext }]) => loadedContext !== undefined);
    return ok({
      models: loaded.map(([name, { loadedContext }]) => ({ ...toCard(name), context_length: loadedContext })),
    });
  }
  const model = route === 'POST /api/show' ? models.get(String(json.model)) : undefined;
  if (model === undefined) return { status: 404, body: { error: 'not found' } };
  const info = { 'general.architecture': 'fake', 'fake.context_length': model.trainedContext };
  return ok({ details: {}, model_info: info, capabilities: model.capabilities ?? ['completion', 'tools'] });
}

function ok(body: unknown) {
  return { status: 200, body };
}

function toCard(name: string) {
  return { name, model: name, size: 1, digest: `sha256:${name}`, details: { format: 'gguf' } };
}

export function openLines({ response }: Exchange): void {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
}

/** Sends each piece as one write, then ends properly. */
export function answerLines(...pieces: readonly string[]): Play {
  return (exchange) => {
    openLines(exchange);
    for (const piece of pieces) exchange.response.write(piece);
    exchange.response.end();
  };
}

/** As `answerLines`, but closes the socket instead of ending the answer. */
export function cutLines(...pieces: readonly string[]): Play {
  return async (exchange) => {
    openLines(exchange);
    for (const piece of pieces) exchange.response.write(piece);
    await sleep(20);
    exchange.socket.destroy();
  };
}

/** One line with a piece of the message. */
export function line(message: Record<string, unknown> | string): string {
  const fields = typeof message === 'string' ? { content: message } : { content: '', ...message };
  const head = { model: 'fake', created_at: '2026-01-01T00:00:00Z' };
  return `${JSON.stringify({ ...head, message: { role: 'assistant', ...fields }, done: false })}\n`;
}

/** One line of a completion. */
export function responseLine(response: string, fields: Record<string, unknown> = {}): string {
  return `${JSON.stringify({ model: 'fake', response, done: false, ...fields })}\n`;
}

/** The whole answer of `/api/embed`. */
export function answerVectors(vectors: unknown, fields: Record<string, unknown> = {}): Play {
  const counts = { total_duration: 5, load_duration: 1, prompt_eval_count: 7 };
  return answerStatus(200, { model: 'fake', embeddings: vectors, ...counts, ...fields });
}

/** The last line. */
export function doneLine(fields: Record<string, unknown> = {}): string {
  const counts = { total_duration: 5, load_duration: 1, prompt_eval_count: 7, eval_count: 2 };
  const message = { role: 'assistant', content: '' };
  return `${JSON.stringify({ model: 'fake', message, done: true, done_reason: 'stop', ...counts, ...fields })}\n`;
}
