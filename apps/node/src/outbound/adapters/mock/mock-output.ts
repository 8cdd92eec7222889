import type { Dialect, RuntimeEvent } from '@iop/runtime';
import type { MockPiece } from './mock-pieces.ts';

/** Turns pieces into the events of one way of answering. */
export interface MockOutput {
  /** Before the first piece. */
  begin(): RuntimeEvent[];
  piece(piece: MockPiece): RuntimeEvent[];
  /** Bytes that make no sense, as a broken upstream would send them. */
  garbage(): RuntimeEvent[];
  end(finish: string, usage: MockUsage | undefined): RuntimeEvent[];
}

export interface MockUsage {
  prompt_tokens: number;
  completion_tokens: number;
}

export interface AnswerHead {
  id: string;
  /** Seconds since 1970. */
  created: number;
  model: string;
  choices: number;
  reasoningField: 'reasoning' | 'reasoning_content';
  /** The caller asked for a chunk of usage. */
  includeUsage: boolean;
}

const maxPieceBytes = 64 * 1024;

/** One server-sent event; if it is larger than a frame, in pieces that belong together. */
export function rawEvents(dialect: Dialect, text: string): RuntimeEvent[] {
  return cut(text).map((bytes, at, all) => ({ kind: 'raw', dialect, bytes, more: at < all.length - 1 }));
}

/** Pieces of a JSON body. */
export function bodyEvents(dialect: Dialect, text: string): RuntimeEvent[] {
  return cut(text).map((bytes) => ({ kind: 'raw', dialect, bytes, more: false }));
}

function cut(text: string): Uint8Array[] {
  const whole = Buffer.from(text);
  if (whole.length <= maxPieceBytes) return [whole];
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < whole.length; at += maxPieceBytes)
    pieces.push(whole.subarray(at, at + maxPieceBytes));
  return pieces;
}

export function usageOf({ prompt_tokens, completion_tokens }: MockUsage) {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
