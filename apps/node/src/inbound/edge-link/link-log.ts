import type { AttemptEnd, SupervisorState } from '@iop/link';
import type { Log } from '../../ports/log.ts';

/** Says what the link does in a way that a person can follow: not the same failure over and over. */
export class LinkLog {
  readonly #log: Log;
  #lastProblem = '';
  #repeats = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  state(state: SupervisorState): void {
    if (state.kind === 'live') this.#live(state);
    else if (state.kind === 'waiting') this.#waiting(state.last, state.delayMs);
  }

  #live({ link }: Extract<SupervisorState, { kind: 'live' }>): void {
    const { name, epoch, transport } = link.peer;
    this.#lastProblem = '';
    this.#log.info(
      { edge: name, address: transport.address, transport: transport.kind, epoch },
      `linked to edge ${name} at ${transport.address}`,
    );
  }

  #waiting(last: AttemptEnd, delayMs: number): void {
    const problem = describe(last);
    this.#repeats = problem === this.#lastProblem ? this.#repeats + 1 : 0;
    this.#lastProblem = problem;
    // Then rarer and rarer: 1st, 2nd, 4th, 8th … of the same.
    if ((this.#repeats & (this.#repeats - 1)) !== 0) return;
    this.#log.warn(
      { retryInMs: Math.round(delayMs), repeats: this.#repeats },
      `no link to the edge: ${problem}`,
    );
  }
}

function describe(last: AttemptEnd): string {
  switch (last.kind) {
    case 'rejected':
      return `refused with ${last.code}: ${last.message}`;
    case 'failed':
      return last.reason;
    case 'aborted':
      return 'stopped';
    case 'ended':
      return describeOutcome(last.outcome);
  }
}

function describeOutcome(outcome: Extract<AttemptEnd, { kind: 'ended' }>['outcome']): string {
  switch (outcome.kind) {
    case 'silent':
      return `the edge was silent for ${outcome.silentMs} ms`;
    case 'protocol-error':
      return `${outcome.code}: ${outcome.reason}`;
    case 'goodbye':
      return `the edge said goodbye: ${outcome.reason}`;
    default:
      return `the link was ${outcome.kind === 'lost' ? 'lost' : 'closed'}: ${outcome.reason}`;
  }
}
