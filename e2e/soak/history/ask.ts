import type { RunState } from '@iop/domain';
import type { Script, TokenCount } from './script.ts';

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
