import type { RunEnd, RunState } from '@iop/domain';
import type { Fault } from './fault.ts';
import type { Script, TokenCount } from './script.ts';

/**
 * Everything that was seen of a soak, from outside. All times are milliseconds since 1970; callers, upstreams and
 * Edge share one clock.
 */
export interface History {
  seed: number;
  startedAtMs: number;
  endedAtMs: number;
  /** How long things were broken. */
  chaosMs: number;
  limits: SoakLimits;
  faults: readonly FaultNote[];
  asks: readonly Ask[];
  runs: readonly RunStory[];
  /** What reached the upstreams of model `m` and the programs of model `say`. */
  effects: readonly Effect[];
  /** What was wrong while it went on: programs that ended by themselves, checks that never came true. */
  troubles: readonly Trouble[];
  /** After everything has calmed down. */
  left: Leftovers;
}

export interface SoakLimits {
  lostAfterMs: number;
  detachedLostAfterMs: number;
  orphanAfterMs: number;
  stopAfterMs: number;
}

export interface FaultNote extends Fault {
  startedAtMs: number;
  /** When its victim was well again, as far as the one who breaks things can say. */
  endedAtMs: number;
}

export interface Trouble {
  atMs: number;
  what: string;
}

export type AskDoor = 'chat' | 'responses' | 'operator';

/** One caller's dealings with one run. Several may be about the same run: repeats, watchers. */
export interface Ask {
  script: Script;
  door: AskDoor;
  runClass: 'attached' | 'detached';
  stream: boolean;
  idempotencyKey: string | undefined;
  startedAtMs: number;
  endedAtMs: number;
  /** Undefined: it was never told. */
  runId: string | undefined;
  /** From then on the Edge may not forget the run, whatever happens. */
  ackedAtMs: number | undefined;
  /** Connections that it took. */
  connections: number;
  cancel: Cancel | undefined;
  outcome: Outcome;
}

export interface Cancel {
  askedAtMs: number;
  /** Undefined: nobody answered. */
  answeredAtMs: number | undefined;
  /** What the answer said. */
  state: RunState | undefined;
}

export type Outcome =
  /** It says of itself that nothing is missing. */
  | { kind: 'whole'; content: string; usage: TokenCount | undefined; transcript: Transcript | undefined }
  /** It says of itself that it failed, or was stopped. */
  | { kind: 'broken'; content: string; code: string; transcript: Transcript | undefined }
  /** The connection broke, and nobody came back. */
  | { kind: 'cut'; content: string }
  /** Nobody was there to ask. */
  | { kind: 'unheard' }
  | { kind: 'refused'; status: number; code: string }
  | { kind: 'left'; atMs: number; content: string }
  /** It went on for longer than anything may. */
  | { kind: 'stuck'; content: string };

/** What a caller put together over its connections, and what the Edge shows of the ended run in one piece. */
export type Transcript =
  | { kind: 'bytes'; assembled: string; replay: string | undefined }
  | { kind: 'events'; afterPos: number; events: readonly SeenEvent[] };

export interface SeenEvent {
  pos: number;
  /** Equal exactly if the events are. */
  print: string;
}

/** A run as the Edge shows it when all is over. */
export interface RunStory {
  record: RunFacts;
  log: RunLogFacts;
}

export interface RunFacts {
  runId: string;
  runClass: 'attached' | 'detached';
  state: RunState;
  model: string;
  node: string;
  attempts: number;
  createdAtMs: number;
  endedAtMs: number | undefined;
  end: RunEnd | undefined;
  lastPos: number;
  stale: string;
  /** From its request, where that is kept, else from what it said. */
  marker: string | undefined;
}

export interface RunLogFacts {
  /** pos of `events[0]`; 1: nothing is gone. */
  firstPos: number;
  events: readonly LoggedEvent[];
  /** What its events say together, as far as it came. */
  content: string;
}

export interface LoggedEvent extends SeenEvent {
  kind: string;
  /** It is, or may be, a piece of the answer. */
  isContent: boolean;
  /** Of kind `attempt`. */
  attempt: number | undefined;
  node: string | undefined;
  /** Of kind `end`. */
  end: RunEnd | undefined;
}

/** A model began to work. */
export interface Effect {
  marker: string;
  model: string;
  /** Empty: not known. */
  node: string;
  atMs: number;
  /** Of an HTTP request; undefined: it never was. */
  closedAtMs: number | undefined;
  /** Pieces of content that were written. */
  pieces: number;
  /** How the script of the upstream ended it, if it was let: `done` is a whole answer. */
  plan: string;
}

export interface Leftovers {
  openRuns: readonly string[];
  openUpstreams: number;
  processes: readonly string[];
  programs: readonly ProgramFigures[];
  stores: readonly StoreFigures[];
}

export interface ProgramFigures {
  name: string;
  /** Before the chaos, of the process that was there then. */
  baseline: ProcessFigures;
  peak: ProcessFigures;
  last: ProcessFigures;
}

export interface ProcessFigures {
  files: number;
  residentBytes: number;
}

export interface StoreFigures {
  file: string;
  /** What `integrity_check` says; `ok` if nothing is wrong. */
  integrity: string;
  /** Longest seen. */
  walBytes: number;
}
