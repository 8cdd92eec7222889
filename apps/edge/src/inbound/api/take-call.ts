import { toIopError } from '@iop/domain';
import { toFailure } from '@iop/wire';
import { answerRequest } from '../../operator-requests/answer-request.ts';
import type { OperatorEdge, Response } from '../../operator-requests/question.ts';
import type { KeyRole } from '../../ports/key-store.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import { readBody } from '../http/request-body.ts';
import { ApiCall } from './api-call.ts';
import { refuse, toRefusal } from './api-style.ts';
import { matchRoute } from './match-route.ts';
import { responseJson } from './response-json.ts';
import type { ApiRoute } from './routes.ts';
import { watchRun } from './watch-run.ts';

export interface Asked {
  method: string;
  /** Below `/api/v1/`, decoded. */
  path: string;
}

/** Takes one request: who asks, what for, with what; then its answer. */
export function createTakeCall(
  port: HttpPort,
  edge: OperatorEdge,
): (exchange: Exchange, asked: Asked) => void {
  return (exchange, asked) => {
    const match = matchRoute(asked.method, asked.path);
    const keyId = checkRole(port, edge, {
      exchange,
      role: match.kind === 'route' ? match.route.role : 'operator',
    });
    if (keyId === undefined) return;
    if (match.kind === 'route') takeBody(port, edge, { exchange, keyId, ...match });
    else if (match.kind === 'unknown') exchange.refuse(unknownPath(asked));
    else exchange.refuse(wrongMethod(asked, match.allowed));
  };
}

const ranks: Readonly<Record<KeyRole, number>> = { caller: 0, operator: 1, admin: 2 };

/** undefined: the caller was refused. */
function checkRole(
  port: HttpPort,
  edge: OperatorEdge,
  { exchange, role }: { exchange: Exchange; role: KeyRole },
): string | undefined {
  const caller = port.checkCaller(exchange.req);
  if (caller.kind === 'refused') {
    exchange.refuse(caller.refusal);
    return undefined;
  }
  const has = caller.isLocal === true ? 'admin' : (edge.keyRole(caller.keyId) ?? 'caller');
  if (ranks[has] >= ranks[role]) return caller.keyId;
  const message = `this needs a key of role ${role}, and ${caller.keyId} is one of role ${has}; \`iop keys set ${caller.keyId} --role ${role}\` changes it`;
  exchange.refuse(refuse('forbidden', 'key.role', message));
  return undefined;
}

interface Taken {
  exchange: Exchange;
  keyId: string;
  route: ApiRoute;
  id: string;
}

function takeBody(port: HttpPort, edge: OperatorEdge, taken: Taken): void {
  const { exchange, route, id } = taken;
  if (route.method !== 'POST') {
    const call = new ApiCall(exchange, { id, body: new Uint8Array() });
    if (route.path === 'runs/:id/events' && wantsStream(exchange)) watchRun(port, edge, call);
    else void answer(edge, call, taken);
    return;
  }
  readBody(exchange.req, port.bodyLimitBytes, (body) => {
    port.guard(exchange, () => {
      if (exchange.isOver) return;
      if (body.kind === 'body') void answer(edge, new ApiCall(exchange, { id, body: body.bytes }), taken);
      else exchange.refuse({ ...tooLarge(port.bodyLimitBytes), status: 413, close: true });
    });
  });
}

function wantsStream({ req }: Exchange): boolean {
  return req.headers.accept?.includes('text/event-stream') === true;
}

async function answer(edge: OperatorEdge, call: ApiCall, { exchange, keyId, route }: Taken): Promise<void> {
  const response = await ask(edge, call, { route, keyId });
  if (exchange.isOver) return;
  if (response.case === 'failure') exchange.refuse(toRefusal(response.value));
  else exchange.json(route.status?.(response) ?? 200, responseJson(response, route));
}

async function ask(
  edge: OperatorEdge,
  call: ApiCall,
  { route, keyId }: { route: ApiRoute; keyId: string },
): Promise<Response> {
  try {
    return await answerRequest(edge, route.ask(call), { door: 'api', name: keyId });
  } catch (reason) {
    return { case: 'failure', value: toFailure(toIopError(reason)) };
  }
}

function unknownPath({ path }: Asked) {
  const message = `there is no /api/v1/${path.slice(0, 100)}; docs/api.md lists what there is`;
  return refuse('not-found', 'request.unknown-path', message);
}

function wrongMethod({ method, path }: Asked, allowed: readonly string[]) {
  const message = `${method} is not allowed on /api/v1/${path.slice(0, 100)}; allowed: ${allowed.join(', ')}`;
  return {
    ...refuse('invalid', 'request.method', message),
    status: 405,
    headers: ['allow', allowed.join(', ')],
  };
}

function tooLarge(limitBytes: number) {
  const message = `the request body is larger than ${limitBytes} bytes, the limit of this Edge (http.body_limit)`;
  return refuse('invalid', 'request.too-large', message);
}
