import type { EdgeDoor } from '../../core/door.ts';
import type { Exchange } from './exchange.ts';
import type { HttpPort } from './http-port.ts';
import { invalidRequest, type Refusal } from './refusal.ts';
import { readBody } from './request-body.ts';
import { readWishes, type Wishes } from './run-wishes.ts';

export interface TakenBody {
  bytes: Uint8Array;
  keyId: string;
  wishes: Wishes;
}

interface Taking {
  port: HttpPort;
  edge: Pick<EdgeDoor, 'mayStore'>;
  exchange: Exchange;
}

/** Checks who calls and what the head says, then reads the body. */
export function takeBody({ port, edge, exchange }: Taking, taken: (body: TakenBody) => void): void {
  const caller = port.checkCaller(exchange.req);
  if (caller.kind === 'refused') {
    exchange.refuse(caller.refusal);
    return;
  }
  const refusal = checkEncoding(exchange);
  const wishes = readWishes(exchange.req, edge);
  if (refusal !== undefined) {
    exchange.refuse(refusal);
    return;
  }
  if (wishes.kind === 'refused') {
    exchange.refuse(wishes.refusal);
    return;
  }
  readBody(exchange.req, port.bodyLimitBytes, (body) => {
    port.guard(exchange, () => {
      if (exchange.isOver) return;
      if (body.kind === 'too-large') exchange.refuse(bodyTooLarge(port.bodyLimitBytes));
      else taken({ bytes: body.bytes, keyId: caller.keyId, wishes });
    });
  });
}

function checkEncoding({ req }: Exchange): Refusal | undefined {
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return undefined;
  const message = 'The request body is compressed; send it as it is, without Content-Encoding.';
  return { ...invalidRequest(message, 'unsupported_encoding'), status: 415 };
}

function bodyTooLarge(limitBytes: number): Refusal {
  const message = `The request body is larger than ${limitBytes} bytes, the limit of this Edge (http.body_limit).`;
  return { status: 413, message, type: 'invalid_request_error', code: 'request_too_large', close: true };
}
