import {
  CandidateSchema,
  create,
  RunAttemptSchema,
  RunChangeSchema,
  toFailure,
  toWireRunState,
  type WhyRunResponse,
  WhyRunResponseSchema,
} from '@iop/wire';
import type { AttemptWhy, RunWhy } from '../core/run-why.ts';
import type { RunRecord } from '../ports/run-records.ts';
import { toRunInfo } from './views-to-wire.ts';

export function toWhy(why: RunWhy, about: { record: RunRecord; waiting: string }): WhyRunResponse {
  return create(WhyRunResponseSchema, {
    run: toRunInfo(about.record),
    waiting: about.waiting,
    attempts: why.attempts.map(toAttempt),
    changes: why.changes.map(({ pos, state }) =>
      create(RunChangeSchema, { pos, state: toWireRunState(state) }),
    ),
  });
}

function toAttempt({ failure, candidates, ...attempt }: AttemptWhy) {
  return create(RunAttemptSchema, {
    ...attempt,
    candidates: candidates.map((each) => create(CandidateSchema, each)),
    ...(failure === undefined ? {} : { failure: toFailure(failure) }),
  });
}
