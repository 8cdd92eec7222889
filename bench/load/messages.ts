import type { Summary } from '../statistics.ts';

/** Where a target listens and what belongs to it. */
export interface Place {
  port: number;
  path: string;
  headers: Readonly<Record<string, string>>;
  /** Roots of the process trees whose CPU time is charged to it; none for the mock itself. */
  pids: readonly number[];
}

export interface ClosedLoop {
  kind: 'closed-loop';
  place: Place;
  connections: number;
  bodyBytes: number;
  warmMs: number;
  windowMs: number;
}

export interface LoopResult {
  requests: number;
  windowMs: number;
  cpuNs: number;
  latencyUs: Summary;
  /** Anything but a whole right answer. */
  failed: number;
  problem?: string;
}

export interface StreamLoad {
  kind: 'streams';
  place: Place;
  streams: number;
  paceMs: number;
  /** Opened evenly over this time; the window follows. */
  rampMs: number;
  windowMs: number;
}

export interface StreamResult {
  /** Content frames within the window. */
  frames: number;
  windowMs: number;
  cpuNs: number;
  /** From the mock's write to our read. */
  delayUs: Summary;
  /** Between two frames of a stream. */
  gapUs: Summary;
  /** From our write of the request to the first frame, less what the mock held it. */
  firstUs: Summary;
  /** Streams that did not end whole: every frame once, in order, and `[DONE]`. */
  failed: number;
  problem?: string;
}

/** One stream after the other on one connection. */
export interface FirstToken {
  kind: 'first-token';
  place: Place;
  count: number;
  frames: number;
  paceMs: number;
  delayMs: number;
}

export interface HoldOpen {
  kind: 'hold';
  place: Place;
  streams: number;
  paceMs: number;
}

/** Ends what `hold` opened, whole. */
export interface Release {
  kind: 'release';
  mockPort: number;
}

/** Callers that ask for long answers and read nothing but the head of one. */
export interface Stall {
  kind: 'stall';
  place: Place;
  streams: number;
}

/** They hang up. */
export interface Unstall {
  kind: 'unstall';
}

export interface HoldResult {
  failed: number;
  problem?: string;
}

export interface LoadResults {
  'closed-loop': LoopResult;
  streams: StreamResult;
  'first-token': StreamResult;
  hold: HoldResult;
  release: HoldResult;
  stall: HoldResult;
  unstall: HoldResult;
}

export type LoadCommand = ClosedLoop | StreamLoad | FirstToken | HoldOpen | Release | Stall | Unstall;

export type LoadReply =
  | { kind: 'ready' }
  | { kind: 'result'; result: unknown }
  | { kind: 'error'; message: string };
