import type { ErrorDetails, ErrorKind } from './errors.ts';

/** Tokens of one run. `estimated`: counted by us because the upstream never said. */
export interface Usage {
  promptTokens: number;
  completionTokens: number;
  estimated: boolean;
}

export const finishReasons = ['stop', 'length', 'tool-calls', 'content-filter', 'other'] as const;
export type FinishReason = (typeof finishReasons)[number];

/** Who or what stopped a run; always said, never guessed. */
export const cancelCauses = ['caller', 'operator', 'deadline', 'drain', 'shutdown', 'superseded'] as const;
export type CancelCause = (typeof cancelCauses)[number];

/** A failure as it crosses every boundary: kind, code, message, details; never a stack. */
export interface RunFailure {
  kind: ErrorKind;
  code: string;
  message: string;
  details: ErrorDetails;
  /** Another attempt, here or elsewhere, may succeed; the Edge obeys only before the commit boundary. */
  retryable: boolean;
  /** What the upstream itself answered, when it answered at all. */
  upstream?: { status: number; body: Uint8Array; retryAfterMs?: number };
}

/** Every run ends with exactly one of these. */
export type RunEnd =
  | { kind: 'completed'; finish: FinishReason; usage?: Usage }
  | { kind: 'failed'; failure: RunFailure; usage?: Usage }
  | { kind: 'cancelled'; by: CancelCause; usage?: Usage };
