import type { RunState } from '@iop/domain';
import {
  type Candidate,
  type Failure,
  fromWireRunState,
  type RunAttempt,
  type WhyRunResponse,
} from '@iop/wire';
import { type RunView, toRunView } from './views.ts';

/** Why a run went where it went, and became what it became. */
export interface WhyView {
  run: RunView;
  attempts: readonly AttemptView[];
  /** What it waits for now, for people; empty: for nothing. */
  waiting: string;
  /** Changes of state that are neither attempts nor the end. */
  changes: readonly { pos: number; state: RunState }[];
}

export interface AttemptView {
  attempt: number;
  /** Where its events begin in the log. */
  pos: number;
  node: string;
  adapter: string;
  target: string;
  /** Why there. */
  route: string;
  waitedMs: number;
  candidates: readonly CandidateView[];
  /** How many events came of it. */
  events: number;
  /** Why it was over before the run was; undefined: it was the last one. */
  failure: { code: string; message: string } | undefined;
}

/** A place as it was when the run was dispatched. */
export interface CandidateView {
  node: string;
  adapter: string;
  target: string;
  /** chosen, free, busy, kept-away, on-trial, other-dialect, failed-before, away */
  verdict: string;
  running: number;
  /** 0: no limit. */
  limit: number;
}

export function toWhyView({ run, attempts, waiting, changes }: WhyRunResponse): WhyView {
  if (run === undefined) throw new TypeError('the Edge answered without the run itself');
  return {
    run: toRunView(run),
    attempts: attempts.map(toAttemptView),
    waiting,
    changes: changes.map(({ pos, state }) => ({ pos, state: fromWireRunState(state) })),
  };
}

function toAttemptView(said: RunAttempt): AttemptView {
  const { attempt, pos, node, adapter, target, route, waitedMs, events } = said;
  const candidates = said.candidates.map(toCandidateView);
  const failure = toFailureView(said.failure);
  return { attempt, pos, node, adapter, target, route, waitedMs, candidates, events, failure };
}

function toCandidateView({ node, adapter, target, verdict, running, limit }: Candidate): CandidateView {
  return { node, adapter, target, verdict, running, limit };
}

function toFailureView(failure: Failure | undefined): AttemptView['failure'] {
  return failure && { code: failure.code, message: failure.message };
}
