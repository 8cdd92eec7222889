import type { IncomingMessage } from 'node:http';

/** What the OpenAI and Anthropic SDKs send from a browser. */
const requestHeaders = [
  'authorization',
  'api-key',
  'x-api-key',
  'content-type',
  'user-agent',
  'accept',
  'x-requested-with',
  'x-request-id',
  'openai-beta',
  'anthropic-version',
  'anthropic-beta',
  'anthropic-dangerous-direct-browser-access',
  'openai-organization',
  'openai-project',
  'idempotency-key',
  'x-iop-on-disconnect',
  'x-stainless-arch',
  'x-stainless-async',
  'x-stainless-custom-poll-interval',
  'x-stainless-helper',
  'x-stainless-helper-method',
  'x-stainless-lang',
  'x-stainless-os',
  'x-stainless-package-version',
  'x-stainless-poll-helper',
  'x-stainless-retry-count',
  'x-stainless-runtime',
  'x-stainless-runtime-version',
  'x-stainless-timeout',
].join(', ');

const exposedHeaders = [
  'x-request-id',
  'request-id',
  'x-iop-run',
  'x-iop-node',
  'x-iop-adapter',
  'x-iop-route',
  'x-iop-unsupported-tools',
  'x-iop-estimated',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
].join(', ');

export interface Cors {
  /** Is the caller a page of an origin that may call, or no page at all? */
  allows(req: IncomingMessage): boolean;
  /** Header fields of an answer to `req`, name and value alternating. */
  headers(req: IncomingMessage): readonly string[];
  /** What the answer to a preflight carries beside them. */
  preflight(req: IncomingMessage): readonly string[];
}

/**
 * By an allow-list, never by reflecting whatever comes, and never with credentials: a page has to
 * hold a key of its own.
 */
export function createCors(origins: readonly string[]): Cors {
  const all = origins.includes('*');
  const allowed = new Set(origins);
  const none: readonly string[] = [];
  function grant(req: IncomingMessage): readonly string[] {
    const origin = req.headers.origin;
    if (all) return ['access-control-allow-origin', '*'];
    if (origin === undefined) return none;
    if (!allowed.has(origin)) return ['vary', 'origin'];
    return ['access-control-allow-origin', origin, 'vary', 'origin'];
  }
  return {
    allows: (req) => req.headers.origin === undefined || all || allowed.has(req.headers.origin),
    headers(req) {
      if (req.headers.origin === undefined || origins.length === 0) return none;
      const granted = grant(req);
      return granted[0] === 'vary' ? granted : [...granted, 'access-control-expose-headers', exposedHeaders];
    },
    preflight(req) {
      if (grant(req)[0] !== 'access-control-allow-origin') return none;
      const allow = [
        'access-control-allow-methods',
        'GET, POST, DELETE, OPTIONS',
        'access-control-allow-headers',
      ];
      return [...allow, requestHeaders, 'access-control-max-age', '600'];
    },
  };
}
