import type { EdgeDoor } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort, HttpRoutes } from '../http/http-port.ts';
import { cancelKept, type KeptRunDeps, showKept } from './kept-runs.ts';
import { answerModel, answerModels } from './models.ts';
import { type RawDoor, takeRaw } from './raw-requests.ts';
import { chatShape, completionsShape, embeddingsShape } from './shapes.ts';
import { createTakeRun } from './take-run.ts';

/** What OpenAI clients expect under `/v1`. */
export function openaiDoor(edge: EdgeDoor): HttpRoutes {
  return (port) => {
    const take = createTakeRun(port, edge);
    port.route('GET', '/v1/models', (exchange) => {
      const keyId = knownKey(port, exchange);
      if (keyId !== undefined) answerModels(exchange, edge, keyId);
    });
    port.route('GET', '/v1/models/*', (exchange, name) => {
      const keyId = knownKey(port, exchange);
      if (keyId !== undefined) answerModel(exchange, edge, { name, keyId });
    });
    port.route('POST', '/v1/chat/completions', (exchange) => take(exchange, chatShape));
    const raw = { port, take };
    routeKept({ port, edge, shape: chatShape, raw }, '/v1/chat/completions');
    routeKept({ port, edge, shape: completionsShape, raw }, '/v1/completions');
    port.route('POST', '/v1/completions', (exchange) => take(exchange, completionsShape));
    port.route('POST', '/v1/embeddings', (exchange) => take(exchange, embeddingsShape));
    port.routeRest('POST', '/v1/*', (exchange, path) => takeRaw(raw, exchange, path));
  };
}

/** Runs that do not end with their connection: shown again, and cancelled. */
function routeKept({ raw, ...deps }: KeptRunDeps & { raw: RawDoor }, path: string): void {
  const { port } = deps;
  port.route('GET', `${path}/*`, (exchange, runId) => {
    const keyId = knownKey(port, exchange);
    if (keyId !== undefined) void showKept(deps, exchange, { runId, keyId });
  });
  port.route('POST', `${path}/*`, (exchange, rest) => {
    const keyId = knownKey(port, exchange);
    if (keyId === undefined) return;
    const [, runId] = /^([^/]+)\/cancel$/.exec(rest) ?? [];
    if (runId === undefined) takeRaw(raw, exchange, `${path.slice('/v1/'.length)}/${rest}`);
    else void cancelKept(deps, exchange, { runId, keyId });
  });
}

/** undefined: the caller was refused. */
function knownKey(port: HttpPort, exchange: Exchange): string | undefined {
  const caller = port.checkCaller(exchange.req);
  if (caller.kind === 'known') return caller.keyId;
  exchange.refuse(caller.refusal);
  return undefined;
}
