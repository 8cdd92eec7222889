import type { IncomingMessage } from 'node:http';
import type { Cors } from './cors.ts';
import type { Exchange } from './exchange.ts';
import type { RouteTable } from './route-table.ts';

/** Everything that is no route: preflights, wrong methods, unknown and broken paths. */
export type AnswerUnmatched = (exchange: Exchange) => void;

export interface UnmatchedDeps {
  table: RouteTable;
  cors: Cors;
  basePath: string;
}

export function createUnmatched({ table, cors, basePath }: UnmatchedDeps): AnswerUnmatched {
  return (exchange) => {
    const { req } = exchange;
    const path = pathOf(req);
    const allowed = table.allowed(path);
    if (req.method === 'OPTIONS') {
      // Never asks for a key: a browser sends none with a preflight.
      exchange.empty(204, ['allow', allowed ?? 'OPTIONS', ...cors.preflight(req)]);
      return;
    }
    // A path that a route covers and could not read (a broken escape, an endless name) is unknown.
    const isKnown = allowed !== undefined && !allowed.split(', ').includes(req.method ?? '');
    exchange.refuse(isKnown ? wrongMethod(req, path, allowed) : unknownPath(req, path, basePath));
  };
}

function unknownPath({ method }: IncomingMessage, path: string, basePath: string) {
  const isBelow = path.startsWith(`${basePath}/`);
  const hint = isBelow
    ? `This Edge serves GET ${basePath}/v1/models and POST ${basePath}/v1/chat/completions, /v1/responses, /v1/messages, /v1/completions, /v1/embeddings.`
    : `Every path of this Edge begins with ${basePath} (http.base_path).`;
  return {
    status: 404,
    message: `There is no ${method} ${shown(path)} here. ${hint}`,
    type: 'invalid_request_error',
    code: 'unknown_url',
  };
}

function wrongMethod(req: IncomingMessage, path: string, allowed: string) {
  return {
    status: 405,
    message: `${req.method} is not allowed on ${shown(path)}; allowed: ${allowed}.`,
    type: 'invalid_request_error',
    code: 'method_not_allowed',
    headers: ['allow', allowed],
  };
}

export function pathOf(req: IncomingMessage): string {
  const url = req.url ?? '/';
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

function shown(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}
