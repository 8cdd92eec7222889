import type { Socket } from 'node:net';
import type { ConnectionWatch } from './connection-watch.ts';
import { encodeError, type Refusal } from './refusal.ts';

/** What the HTTP parser refuses before there is a request. */
const refusals: Readonly<Record<string, Pick<Refusal, 'status' | 'message' | 'code'>>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    message: 'The request did not arrive in time; send it faster or in parts.',
    code: 'request.timeout',
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: 'The request head is too large; leave header fields out or shorten the URL.',
    code: 'request.head-too-large',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    message: 'The extensions of a body chunk are too large.',
    code: 'request.too-large',
  },
};

const malformed = { status: 400, message: 'This is not HTTP/1.1 as we know it.', code: 'request.malformed' };

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
};

/** Answers on the bare connection and closes it. Never into an answer that has begun. */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  watch: ConnectionWatch,
): void {
  if (isSilent(error) || !socket.writable || watch.hasBegun(socket)) {
    socket.destroy();
    return;
  }
  const refusal = { ...(refusals[error.code ?? ''] ?? malformed), type: 'invalid_request_error' };
  const body = encodeError(refusal);
  const head = [
    `HTTP/1.1 ${refusal.status} ${reasons[refusal.status]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  // The caller may still be sending: its FIN, or this time, ends the connection.
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.setTimeout(2000, () => socket.destroy());
}

/** Gone, or never come to an agreement about TLS: nobody would read an answer. */
function isSilent({ code = '' }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_');
}
