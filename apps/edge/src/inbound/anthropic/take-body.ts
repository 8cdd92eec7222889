import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import { invalidRequest, type Refusal } from '../http/refusal.ts';
import { readBody } from '../http/request-body.ts';

/** What the header fields of a request wish for its run. */
export interface RequestHead {
  /** The run goes on when its caller has left. */
  continues: boolean;
  idempotencyKey: string | undefined;
}

export interface TakenBody {
  bytes: Uint8Array;
  keyId: string;
  head: RequestHead;
}

/** Checks who calls and what the head says, then reads the body. */
export function takeBody(port: HttpPort, exchange: Exchange, taken: (body: TakenBody) => void): void {
  const caller = port.checkCaller(exchange.req);
  if (caller.kind === 'refused') {
    exchange.refuse(caller.refusal);
    return;
  }
  const head = readHead(exchange);
  if ('status' in head) {
    exchange.refuse(head);
    return;
  }
  readBody(exchange.req, port.bodyLimitBytes, (body) => {
    port.guard(exchange, () => {
      if (exchange.isOver) return;
      if (body.kind === 'too-large') exchange.refuse(bodyTooLarge(port.bodyLimitBytes));
      else taken({ bytes: body.bytes, keyId: caller.keyId, head });
    });
  });
}

function readHead({ req }: Exchange): RequestHead | Refusal {
  const { 'content-encoding': encoding = 'identity', 'x-iop-on-disconnect': wish = 'cancel' } = req.headers;
  if (encoding !== 'identity') {
    const message = 'The request body is compressed; send it as it is, without Content-Encoding.';
    return { ...invalidRequest(message, 'unsupported_encoding'), status: 415 };
  }
  if (wish !== 'cancel' && wish !== 'continue')
    return invalidRequest('x-iop-on-disconnect is either `cancel` or `continue`.', 'invalid_value');
  const key = req.headers['idempotency-key'];
  if (key !== undefined && !isKey(key))
    return invalidRequest('Idempotency-Key has 1 to 255 visible ASCII characters.', 'invalid_value');
  return { continues: wish === 'continue', idempotencyKey: key };
}

function isKey(key: string | string[]): key is string {
  return typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key);
}

function bodyTooLarge(limitBytes: number): Refusal {
  const message = `The request body is larger than ${limitBytes} bytes, the limit of this Edge (http.body_limit).`;
  return { status: 413, message, type: 'invalid_request_error', code: 'request_too_large', close: true };
}
