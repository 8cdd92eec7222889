import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import { isRawPath } from './raw-path.ts';
import { rawShape } from './shapes.ts';
import type { TakeRun } from './take-run.ts';

export interface RawDoor {
  port: HttpPort;
  take: TakeRun;
}

/** `POST /v1/<path>` that this door has no route for: for the upstream of the `model` in it. */
export function takeRaw({ port, take }: RawDoor, exchange: Exchange, path: string): void {
  const { url = '', headers } = exchange.req;
  const contentType = headers['content-type'] ?? 'application/json';
  if (!isRawPath(path)) port.answerUnmatched(exchange);
  else take(exchange, rawShape({ raw: { path, contentType }, hasQuery: url.includes('?') }));
}
