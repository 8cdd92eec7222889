import type { IncomingMessage } from 'node:http';
import type { EdgeDoor } from '../../core/door.ts';
import type { Client, ClientOf } from './client.ts';
import type { Cors } from './cors.ts';
import { type HttpConfig, isLoopbackHost } from './http-config.ts';
import type { Refusal } from './refusal.ts';

export type CallerCheck =
  /** `isLocal`: no key, because this Edge asks for none and the caller is on its machine. */
  { kind: 'known'; keyId: string; isLocal?: true } | { kind: 'refused'; refusal: Refusal };

/** Decides who is calling. */
export type CheckCaller = (req: IncomingMessage) => CallerCheck;

export interface CallerCheckDeps {
  config: Pick<HttpConfig, 'auth'>;
  cors: Cors;
  clientOf: ClientOf;
  edge: Pick<EdgeDoor, 'checkKey'>;
}

export function createCallerCheck({ config, cors, clientOf, edge }: CallerCheckDeps): CheckCaller {
  if (config.auth === 'keys') return (req) => checkKey(req, edge);
  return (req) => checkLocal(req, cors, clientOf(req));
}

function checkKey(req: IncomingMessage, edge: Pick<EdgeDoor, 'checkKey'>): CallerCheck {
  const presented = presentedKey(req);
  if (presented.kind === 'malformed')
    return refuse('The Authorization header is not of the form "Bearer <key>".');
  const check = edge.checkKey(presented.key);
  switch (check.kind) {
    case 'valid':
      return { kind: 'known', keyId: check.keyId };
    case 'missing':
      return refuse(
        'No API key was sent. Send it as "Authorization: Bearer <key>"; `iop keys create` makes one.',
      );
    case 'unknown':
      return refuse('This API key is not known here. `iop keys` lists the keys of this Edge.');
    case 'revoked':
      return refuse(`This API key (${check.keyId}) was revoked. \`iop keys create\` makes a new one.`);
    case 'expired':
      return refuse(
        `This API key (${check.keyId}) expired on ${new Date(check.expiresAtMs).toISOString()}. \`iop keys set\` prolongs it.`,
      );
    case 'unavailable':
      return { kind: 'refused', refusal: unavailable(check.detail) };
  }
}

/**
 * Without keys the network is the permission, so a web page in the user's browser must not borrow it:
 * neither by a request from its own origin nor by a name that it lets point here. Nor must a proxy
 * lend it to the callers that it serves.
 */
function checkLocal(req: IncomingMessage, cors: Cors, { address, hosts }: Client): CallerCheck {
  const host = hosts.map((each) => each.replace(/:\d+$/, '')).find((each) => !isLoopbackHost(each));
  if (host !== undefined) return { kind: 'refused', refusal: foreign(`Host ${host}`) };
  if (!isLoopbackHost(address)) return { kind: 'refused', refusal: foreign(`Address ${address}`) };
  if (!cors.allows(req)) return { kind: 'refused', refusal: foreign(`Origin ${req.headers.origin}`) };
  return { kind: 'known', keyId: 'local', isLocal: true };
}

type Presented = { kind: 'key'; key: string | undefined } | { kind: 'malformed' };

/** `Authorization: Bearer`, or the headers that Azure and Anthropic clients use. */
function presentedKey(req: IncomingMessage): Presented {
  const { authorization } = req.headers;
  if (authorization === undefined) {
    const key = req.headers['api-key'] ?? req.headers['x-api-key'];
    return { kind: 'key', key: typeof key === 'string' && key !== '' ? key : undefined };
  }
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return { kind: 'malformed' };
  const key = authorization.slice(7).trim();
  return key === '' ? { kind: 'malformed' } : { kind: 'key', key };
}

function refuse(message: string): CallerCheck {
  const headers = ['www-authenticate', 'Bearer'];
  const refusal: Refusal = {
    status: 401,
    message,
    type: 'invalid_request_error',
    code: 'invalid_api_key',
    headers,
  };
  return { kind: 'refused', refusal };
}

function foreign(what: string): Refusal {
  const message = `${what} may not call this Edge, which runs without keys; add the origin to http.cors_origins.`;
  return { status: 403, message, type: 'permission_error', code: 'origin.not-allowed' };
}

/** The key may well be good: only the store that knows is away. */
function unavailable(detail: string): Refusal {
  const message = `API keys cannot be checked at the moment: ${detail}.`;
  return { status: 503, message, type: 'server_error', code: 'store.unavailable', retryAfterMs: 2000 };
}
