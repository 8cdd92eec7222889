import type { Ask } from './ask.ts';
import type { Fault } from './fault.ts';
import type { RunStory } from './run-story.ts';

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
