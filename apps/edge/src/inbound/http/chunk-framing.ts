import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Copying more than this costs more than the extra writes that it saves. */
const frameLimitBytes = 64 * 1024;

/**
 * One write for one chunk of a chunked answer. `ServerResponse.write` makes four of it (length, bytes
 * and two line ends), which costs about as much again as everything else that a relayed event costs.
 *
 * Its preconditions are the caller's: the head has been written through the response before, so that
 * the response has nothing of its own in hand, and it is the one that the socket is answering.
 */
export function canFrame(res: ServerResponse): res is ServerResponse & { socket: Socket } {
  return res.chunkedEncoding && res.socket !== null;
}

/** The pieces as one chunk; undefined when they are better written through the response. */
export function frameChunk(pieces: readonly Uint8Array[]): Uint8Array | undefined {
  let sizeBytes = 0;
  for (const piece of pieces) sizeBytes += piece.length;
  if (sizeBytes === 0 || sizeBytes > frameLimitBytes) return undefined;
  const length = sizeBytes.toString(16);
  const frame = Buffer.allocUnsafe(length.length + sizeBytes + 4);
  let at = frame.write(`${length}\r\n`, 'latin1');
  for (const piece of pieces) {
    frame.set(piece, at);
    at += piece.length;
  }
  frame.write('\r\n', at, 'latin1');
  return frame;
}

export function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
}
