import type { CancelCause, RunEnd } from '@iop/domain';
import type { Dialect, RawRequest, RuntimeEvent } from '@iop/runtime';

/** Surfaces through which a run can arrive. */
export type Door = 'openai' | 'native';

/** What a door hands in: one attached run. */
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
}

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
  /** `sizeBytes` is what these events take of the window. */
  events(events: readonly RuntimeEvent[], sizeBytes: number): void;
  end(end: RunEnd): void;
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

/** What the doors may ask of the Edge. One facade for all of them. */
export interface EdgeDoor {
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
