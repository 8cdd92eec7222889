import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import { invalidRequest, type Refusal } from '../http/refusal.ts';
import { readBody } from '../http/request-body.ts';

/** From the head of a request to its body, if its caller may ask. */
export function takeRequest(
  port: HttpPort,
  exchange: Exchange,
  take: (keyId: string, bytes: Uint8Array) => void,
): void {
  const caller = port.checkCaller(exchange.req);
  const refusal = caller.kind === 'refused' ? caller.refusal : checkEncoding(exchange);
  if (caller.kind === 'refused' || refusal !== undefined) {
    if (refusal !== undefined) exchange.refuse(refusal);
    return;
  }
  readBody(exchange.req, port.bodyLimitBytes, (body) => {
    port.guard(exchange, () => {
      if (exchange.isOver) return;
      if (body.kind === 'too-large') exchange.refuse(bodyTooLarge(port.bodyLimitBytes));
      else take(caller.keyId, body.bytes);
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
