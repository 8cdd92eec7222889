import type { RunEnd, RunState } from '@iop/domain';
import type { RunEvent } from '@iop/wire';
import type { RunView } from './views.ts';

/** A run to be started. */
export interface RunOrder {
  adapter: string;
  target: string;
  /** Undefined: any Node. */
  node?: string;
  /** Shape of the body: `openai.chat`. */
  dialect: string;
  /** At most the Edge's `http.body_limit`. */
  body: Uint8Array;
  stream: boolean;
  includeUsage?: boolean;
  /** 0 or undefined: the Edge's own limit. */
  deadlineMs?: number;
  /** For 24 h the same key and order mean the same run; another order is refused. */
  idempotencyKey?: string;
  /** Content and request of an attached run are kept as those of a detached one. */
  store?: boolean;
}

/** What an owner or watcher sees of a run, in order; `end` is the last. */
export type RunUpdate =
  /** Told to owners; watchers see events of kind `attempt` and `state`. */
  | { kind: 'state'; state: RunState; node: string }
  | { kind: 'event'; pos: number; event: RunEvent }
  /** These are gone for good. */
  | { kind: 'gap'; fromPos: number; toPos: number }
  | { kind: 'end'; pos: number; end: RunEnd };

/** An attached run: it lives while this client looks. */
export interface StartedRun {
  readonly runId: string;
  /** Can be read once. Throws `unavailable` when the link is lost before the end. */
  readonly updates: AsyncIterable<RunUpdate>;
  /** Asks the Edge to stop the run; `end` still comes, after the work has stopped. */
  cancel(): Promise<void>;
  /** Looks no longer; the Edge then cancels the run, unless somebody else owns it. */
  leave(): void;
}

/** A run that is looked at, attached or detached, live or ended. */
export interface WatchedRun {
  /** As it was when the watch began. */
  readonly run: RunView;
  /** Can be read once. Throws `unavailable` when the link or the Edge's store is lost: watch on after the last pos. */
  readonly updates: AsyncIterable<RunUpdate>;
  /** Looks no longer; the run goes on. */
  leave(): void;
}
