import type { RunEnd, RunFailure } from '@iop/domain';

/**
 * Reads the body of one upstream answer and emits what is for the caller.
 *
 * It settles exactly once, also long before the body has ended when nothing counts any more.
 */
export interface Answer {
  /** False: the sink has no room; the upstream is to be paused until it has. */
  data(chunk: Uint8Array): boolean;
  /** The body ended as HTTP says it must. */
  end(): void;
  /** The connection broke, or was silent for too long. */
  broken(failure: RunFailure): void;
  /** The run has ended for another reason: emit nothing any more. */
  abandon(): void;
}

export type Settle = (end: RunEnd) => void;

/** Raw events carry at most so much; the wire's payload of a frame. */
export const maxPieceBytes = 64 * 1024;
