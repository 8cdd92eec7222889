import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** One request that the upstream has got. */
export interface Exchange {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  json: Record<string, unknown>;
  response: ServerResponse;
  socket: Socket;
  /** True as soon as the caller has closed the connection before the answer ended. */
  readonly gone: boolean;
  /** Resolves when the exchange is over, by either side. */
  readonly over: Promise<void>;
}

/** What the upstream does with a request. */
export type Play = (exchange: Exchange) => void | Promise<void>;

export interface ScriptedUpstream {
  /** With /v1. */
  baseUrl: string;
  port: number;
  /** POSTs so far, oldest first. */
  readonly exchanges: readonly Exchange[];
  /** POSTs whose answer has not ended and whose caller is still there. */
  openExchanges(): number;
  openSockets(): number;
  /** GET /v1/models answers with this. */
  models: Play;
  /** GET /metrics answers with this; at first there is none. */
  metrics: Play;
  close(): Promise<void>;
}

/**
 * A real HTTP server that speaks just enough of the OpenAI dialect to be any upstream, good or bad.
 * @param plays by the `model` of the request; `*`: for all others, such as a form
 */
export async function startScriptedUpstream(
  plays: Readonly<Record<string, Play>>,
  port = 0,
): Promise<ScriptedUpstream> {
  const exchanges: Exchange[] = [];
  const open = new Set<Exchange>();
  const sockets = new Set<Socket>();
  const upstream = {
    metrics: answerStatus(404, { detail: 'Not Found' }),
    models: modelsOf(Object.keys(plays).filter((name) => name !== '*')),
  };

  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const exchange = toExchange(request.url ?? '', request.headers, Buffer.concat(parts), response);
      if (request.method === 'GET') {
        const play = exchange.path.endsWith('/metrics') ? upstream.metrics : upstream.models;
        return void play(exchange);
      }
      exchanges.push(exchange);
      open.add(exchange);
      void exchange.over.then(() => open.delete(exchange));
      const play =
        plays[String(exchange.json.model)] ??
        plays['*'] ??
        answerStatus(404, { error: { message: 'no such model' } });
      void play(exchange);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const bound = (server.address() as AddressInfo).port;
  return Object.assign(upstream, {
    baseUrl: `http://127.0.0.1:${bound}/v1`,
    port: bound,
    exchanges,
    openExchanges: () => open.size,
    openSockets: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

export function toExchange(
  path: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
  response: ServerResponse,
): Exchange {
  const over = Promise.withResolvers<void>();
  let gone = false;
  response.on('close', () => {
    gone = !response.writableFinished;
    over.resolve();
  });
  let json: Record<string, unknown> = {};
  try {
    json = JSON.parse(body.toString());
  } catch {
    // Not every request has one.
  }
  return {
    path,
    headers,
    body,
    json,
    response,
    socket: response.socket as Socket,
    over: over.promise,
    get gone() {
      return gone;
    },
  };
}

export function modelsOf(names: readonly string[]): Play {
  const data = names.map((id) => ({
    id,
    object: 'model',
    created: 1,
    owned_by: 'test',
    max_model_len: 4096,
  }));
  return answerStatus(200, { object: 'list', data });
}

export function answerStatus(status: number, body: unknown, headers: Record<string, string> = {}): Play {
  return ({ response }) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(text);
  };
}

/** Sends the head of a stream, then each piece as one write, `paceMs` apart; then ends properly. */
export function answerStream(pieces: readonly (string | Buffer)[], paceMs = 0): Play {
  return async (exchange) => {
    openStream(exchange);
    for (const piece of pieces) {
      if (exchange.gone) return;
      exchange.response.write(piece);
      if (paceMs > 0) await sleep(paceMs);
    }
    exchange.response.end();
  };
}

export function openStream({ response }: Exchange): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  response.flushHeaders();
}

/** As `answerStream`, but closes the socket instead of ending the answer. */
export function cutStream(pieces: readonly string[]): Play {
  return async (exchange) => {
    openStream(exchange);
    for (const piece of pieces) exchange.response.write(piece);
    await sleep(20);
    exchange.socket.destroy();
  };
}

/** One chunk of a chat stream as an event. */
export function chunk(content: string, finish: string | null = null, index = 0): string {
  return `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'upstream-model',
    choices: [{ index, delta: finish === null ? { content } : {}, logprobs: null, finish_reason: finish }],
  })}\n\n`;
}

export const usageChunk = `data: ${JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'upstream-model',
  choices: [],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
})}\n\n`;

export const done = 'data: [DONE]\n\n';

/** A whole answer that is not streamed. */
export function completion(content: string, extra: Record<string, unknown> = {}): unknown {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'upstream-model',
    choices: [{ index: 0, message: { role: 'assistant', content }, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    ...extra,
  };
}
