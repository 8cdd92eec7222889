import type { CancelCause, RunEnd, RunState } from '@iop/domain';
import type { Dialect, RawRequest, RuntimeEvent } from '@iop/runtime';
import type { LogEvent } from '../ports/run-log.ts';
import type { RunOrder } from '../ports/run-orders.ts';
import type { RunClass, RunRecord } from '../ports/run-records.ts';

/** Surfaces through which a run can arrive. */
export type Door = 'openai' | 'anthropic' | 'api' | 'native';

/** What a door hands in. */
export interface RunIntent {
  door: Door;
  /** Id of the API key, or the operator's name. */
  keyId: string;
  select: RunSelect;
  dialect: Dialect;
  /** The caller's bytes; owned by the run from here on. */
  body: Uint8Array;
  stream: boolean;
  includeUsage: boolean;
  /** Longest life of the run, queueing included; undefined: the Edge's default. */
  deadlineMs?: number;
  /** Present exactly if `dialect` is `openai.raw`. */
  raw?: RawRequest;
  /** Request and content are kept for `history.stored_retention`, although the run is attached. */
  stored?: boolean;
  /** The caller's bytes, where `body` is a translation of them; kept with a stored run. */
  asked?: Uint8Array;
}

/** A run that is committed to the disk before it is dispatched. */
export interface RunCreation extends RunIntent {
  runClass: RunClass;
  idempotency?: IdempotencyKey;
}

export interface IdempotencyKey {
  /** The caller's; unique for its API key and door, for 24 h. */
  key: string;
  /** SHA-256 of the bytes that the caller sent, hex. */
  bodyHash: string;
}

export type CreateOutcome =
  | { kind: 'created'; runId: string }
  /** The same key and body as before: this is that run. */
  | { kind: 'repeated'; runId: string }
  /** The key was used for another body. */
  | { kind: 'key-conflict'; key: string; runId: string }
  /** Nothing was started. */
  | { kind: 'store-unavailable'; detail: string }
  | Exclude<StartOutcome, { kind: 'accepted' }>;

export type RunSelect =
  /** A public name, or `adapter/name`. */
  { kind: 'model'; model: string } | { kind: 'target'; adapter: string; target: string; node?: string };

/** Expected outcomes of handing in a run. Everything after `accepted` reaches the reader. */
export type StartOutcome =
  | { kind: 'accepted'; run: AttachedRun }
  | { kind: 'unknown-target'; asked: string; nearest: readonly string[] }
  | { kind: 'no-node'; asked: string; detail: string; retryAfterMs: number }
  | { kind: 'queue-full'; asked: string; limit: number; retryAfterMs: number }
  /** It exists, and the key's policy does not name it. */
  | { kind: 'forbidden-target'; asked: string; keyId: string }
  /** The key's rate is used up. */
  | { kind: 'key-rate'; keyId: string; limit: string; retryAfterMs: number }
  /** The key has as many runs as it may, and this one may not wait. */
  | { kind: 'key-busy'; keyId: string; limit: number; retryAfterMs: number }
  | { kind: 'unsupported-dialect'; asked: string; dialect: Dialect }
  | { kind: 'stopping' };

/** An attached run in the hands of its owner. */
export interface AttachedRun {
  readonly id: string;
  /** Gives window back: the owner has passed on this many bytes of `RunReader.events`. */
  consumed(sizeBytes: number): void;
  /** Takes effect once; `RunReader.end` still comes, after the work has stopped. */
  cancel(by: CancelCause): void;
}

/**
 * The owner's side of a run. Called synchronously, in order, never after `end`: `dispatched` perhaps before
 * `start` has returned, `end` perhaps before `cancel` has. An owner that wants no more calls
 * `cancel('caller')` and ignores the rest.
 */
export interface RunReader {
  /** An attempt was handed to a Node. Called again if a further attempt starts. */
  dispatched(place: RunPlace): void;
  /** `sizeBytes` is what these events take of the window, `firstPos` the pos of the first of them in the log. */
  events(events: readonly RuntimeEvent[], sizeBytes: number, firstPos: number): void;
  /** `pos` of the end in the log. */
  end(end: RunEnd, pos: number): void;
}

export interface RunPlace {
  node: string;
  adapter: string;
  target: string;
  attempt: number;
  /** Why this place, for people: `only candidate`, `alias fast: 2nd choice, least busy of 3; 1st: no Node up`. */
  route?: string;
}

/** A public name and what stands behind it now. */
export interface ModelInfo {
  name: string;
  adapters: readonly string[];
  /** Seconds since 1970 when the Edge first saw it. */
  createdS: number;
  available: boolean;
}

/**
 * What a cursor on the log of a run gets: everything after its pos, in order; the last event of a log is `end`. Called
 * synchronously; after `end` or `close` never again.
 */
export interface LogReader {
  /** No more than a window is given before `RunCursor.consumed` gives it back. */
  push(events: readonly LogEvent[], firstPos: number, sizeBytes: number): void;
  /** What lies from `fromPos` to `toPos` is gone for good. */
  gap(fromPos: number, toPos: number): void;
  /** The store failed while it was read: the cursor is closed. Ask again after the last pos that came. */
  broken(detail: string): void;
}

export interface RunCursor {
  readonly runId: string;
  /** From here on its reader is told; nothing before, so that whoever opened it knows it by then. */
  start(): void;
  consumed(sizeBytes: number): void;
  /** Looks no longer. The last owner of an attached run cancels it by that. */
  close(): void;
}

export interface OpenRequest {
  runId: string;
  /** 0: from the beginning. Beyond the newest event: waits. */
  afterPos: number;
  /** An attached run lives while one of those is open. */
  owns: boolean;
  /** Only a run of this API key; every other looks as if it did not exist. */
  keyId?: string | undefined;
}

export type OpenOutcome =
  | { kind: 'opened'; cursor: RunCursor; record: RunRecord }
  | { kind: 'unknown-run' }
  /** The run has ended, and `afterPos` is its end: nothing is left to be told. */
  | { kind: 'at-end'; record: RunRecord }
  /** The run has ended and its log is not that long. */
  | { kind: 'past-end'; lastPos: number }
  | { kind: 'store-unavailable'; detail: string };

export interface RunRef {
  runId: string;
  /** Only a run of this API key. */
  keyId?: string | undefined;
}

export type CancelOutcome =
  | { kind: 'taken'; state: RunState }
  | { kind: 'already-ended'; state: RunState }
  | { kind: 'unknown-run' }
  /** The cancel of a detached run is committed before it is answered, and could not be. */
  | { kind: 'store-unavailable'; detail: string };

export type DeleteOutcome =
  | { kind: 'deleted' }
  | { kind: 'unknown-run' }
  | { kind: 'not-ended' }
  | { kind: 'store-unavailable'; detail: string };

/** What doors may ask about runs that are kept. */
export interface RunDoor {
  /** Resolves when the run is committed; its events are in its log. */
  create(creation: RunCreation): Promise<CreateOutcome>;
  open(request: OpenRequest, reader: LogReader): Promise<OpenOutcome>;
  /** Rejects with an `unavailable` IopError. */
  findRun(ref: RunRef): Promise<RunRecord | undefined>;
  /** What a stored or detached run was asked for. Rejects as `findRun` does. */
  runOrder(ref: RunRef): Promise<RunOrder | undefined>;
  cancelRun(ref: RunRef, by: CancelCause): Promise<CancelOutcome>;
  /** Forgets the content and the request of an ended run; its record stays. */
  deleteRun(ref: RunRef): Promise<DeleteOutcome>;
  /** Whether callers may have their content kept (`history.store`). */
  mayStore(): boolean;
}

/** What the doors may ask of the Edge. One facade for all of them. */
export interface EdgeDoor extends RunDoor {
  start(intent: RunIntent, reader: RunReader): StartOutcome;
  /** With a key: those that its policy allows. */
  models(keyId?: string): readonly ModelInfo[];
  model(name: string, keyId?: string): ModelInfo | undefined;
  checkKey(presented: string | undefined): KeyCheck;
  /** Ready: the store answers and the wire port listens. Text says what is missing. */
  readiness(): { ready: boolean; detail: string };
}

export type KeyCheck =
  | { kind: 'valid'; keyId: string }
  | { kind: 'missing' }
  | { kind: 'unknown' }
  | { kind: 'revoked'; keyId: string }
  | { kind: 'expired'; keyId: string; expiresAtMs: number }
  /** The store that knows cannot be asked: a door answers 503, never 401. */
  | { kind: 'unavailable'; detail: string };
