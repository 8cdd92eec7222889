/**
 * Ends of detached runs that the Edge has not taken yet, each with the events before it that were not acked: what
 * the next process delivers if this one dies. The bytes are their writer's own business.
 *
 * B1: when `keep` returns, all that it was given is on the disk, whatever happens next; when it throws, nothing of it is kept.
 * B2: `kept` gives, oldest first, what was kept and not forgotten, whole and byte for byte, also after a crash.
 * B3: `forget` takes no time and never throws. What was forgotten just before a crash may be found again.
 * B4: what cannot be read is not given: of a tail only what joins the end without a hole, nothing of an attempt whose end
 *     is unreadable. It is told, and never in the way of the others.
 * B5: the oldest are given up beyond the bounds of age and size, in words.
 */
export interface EndStore {
  /** @throws IopError `store.refused` */
  keep(ends: readonly KeptEnd[]): void;
  forget(ref: AttemptRef): void;
  kept(): readonly KeptEnd[];
}

export interface AttemptRef {
  readonly runId: string;
  readonly attempt: number;
}

export interface KeptEnd extends AttemptRef {
  /** Of the end itself. */
  lastSeq: number;
  end: Uint8Array;
  /** In order and without a hole up to `lastSeq` − 1; empty: all before the end was acked. */
  tail: readonly TailPart[];
  /** Milliseconds since 1970. */
  endedAtMs: number;
}

export interface TailPart {
  firstSeq: number;
  lastSeq: number;
  bytes: Uint8Array;
}
