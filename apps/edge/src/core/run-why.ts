import type { RunFailure, RunState } from '@iop/domain';
import type { AttemptEvent, OwnEvent } from '../ports/run-log.ts';
import type { RunRecord } from '../ports/run-records.ts';

/** An event of the Edge itself, and where it is in the log. */
export interface OwnAt {
  pos: number;
  event: OwnEvent;
}

/** Why a run went where it went. */
export interface RunWhy {
  attempts: readonly AttemptWhy[];
  /** Changes of state that are neither attempts nor the end. */
  changes: readonly { pos: number; state: RunState }[];
}

export interface AttemptWhy extends Omit<AttemptEvent, 'kind'> {
  pos: number;
  /** How many events came of it. */
  events: number;
  /** Why it was over before the run was. */
  failure: RunFailure | undefined;
}

/** @param own in order of pos; what is missing (retention) is only missing in the answer */
export function explainRun(run: Pick<RunRecord, 'lastPos' | 'end'>, own: readonly OwnAt[]): RunWhy {
  const attempts = own.flatMap(({ pos, event }, index) => {
    if (event.kind !== 'attempt') return [];
    return [explainAttempt({ ...event, pos }, own.slice(index + 1), run)];
  });
  const changes = own.flatMap(({ pos, event }) =>
    event.kind === 'state' ? [{ pos, state: event.state }] : [],
  );
  return { attempts, changes };
}

function explainAttempt(
  { kind, ...attempt }: AttemptEvent & { pos: number },
  later: readonly OwnAt[],
  { lastPos, end }: Pick<RunRecord, 'lastPos' | 'end'>,
): AttemptWhy {
  const after = later.findIndex(({ event }) => event.kind !== 'state');
  const over = later[after];
  const states = after === -1 ? later.length : after;
  const isOver = end !== undefined;
  const nextPos = Math.max(isOver ? lastPos : lastPos + 1, (later.at(-1)?.pos ?? attempt.pos) + 1);
  const endPos = over?.pos ?? nextPos;
  const events = endPos - attempt.pos - 1 - states;
  const failure = over?.event.kind === 'attempt-end' ? over.event.failure : undefined;
  return { ...attempt, events, failure };
}
