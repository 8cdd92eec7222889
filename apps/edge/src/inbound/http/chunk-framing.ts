import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Up to here one buffer more is cheaper than three writes; beyond it the garbage of the copies is dearer. */
const copyLimitBytes = 16 * 1024;

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

/** The pieces as one chunk, in buffers to be written together; undefined: there is nothing to write. */
export function frameChunk(pieces: readonly Uint8Array[]): readonly Uint8Array[] | undefined {
  let sizeBytes = 0;
  for (const piece of pieces) sizeBytes += piece.length;
  if (sizeBytes === 0) return undefined;
  const head = `${sizeBytes.toString(16)}\r\n`;
  if (sizeBytes > copyLimitBytes) return [Buffer.from(head, 'latin1'), ...pieces, lineEnd];
  return [copyChunk(head, pieces, sizeBytes)];
}

const lineEnd = Buffer.from('\r\n');

function copyChunk(head: string, pieces: readonly Uint8Array[], sizeBytes: number): Uint8Array {
  const frame = Buffer.allocUnsafe(head.length + sizeBytes + lineEnd.length);
  let at = frame.write(head, 'latin1');
  for (const piece of pieces) {
    frame.set(piece, at);
    at += piece.length;
  }
  frame.set(lineEnd, at);
  return frame;
}

export function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
}
