import type { Clock } from '@iop/domain';
import type { Welcome } from '@iop/wire';
import { type AttemptOutcome, attemptLink, type DialOptions } from './attempt.ts';
import { Backoff, healthyAfterMs } from './backoff.ts';
import type { HelloInfo } from './handshake/dialer-handshake.ts';
import type { Link, LinkHandlers, LinkOutcome } from './link.ts';

/** What the supervisor is doing; for logs, metrics and `status`. */
export type SupervisorState =
  | { kind: 'connecting'; attempt: number }
  | { kind: 'live'; link: Link; welcome: Welcome }
  /** `last` is the one outcome of the attempt that just ended. */
  | { kind: 'waiting'; delayMs: number; last: AttemptEnd }
  | { kind: 'stopped' };

/** How an attempt ended, whether or not it ever became a link. */
export type AttemptEnd =
  | Exclude<AttemptOutcome, { kind: 'linked' }>
  | { kind: 'ended'; outcome: LinkOutcome; livedMs: number };

export interface SupervisorOptions extends DialOptions {
  /** Uniform in [0, 1). */
  random(): number;
  onState?(state: SupervisorState): void;
}

export interface Supervisor {
  /**
   * Dials, links, and comes back for ever (L12, L13). Returns only after `signal` fired and the live link, if
   * any, has said Goodbye and is closed. Rejects only for a bug in what it was given.
   */
  run(signal: AbortSignal): Promise<void>;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  return new LinkSupervisor(options);
}

class LinkSupervisor implements Supervisor {
  readonly #options: SupervisorOptions;
  readonly #backoff: Backoff;
  #lastEpoch = 0;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, onState } = this.#options;
    for (let attempt = 1; !signal.aborted; attempt++) {
      onState?.({ kind: 'connecting', attempt });
      const last = await this.#attempt(signal);
      if (signal.aborted) break;
      const delayMs = this.#backoff.nextMs(retryAfterOf(last));
      onState?.({ kind: 'waiting', delayMs, last });
      await pause(clock, delayMs, signal);
    }
    onState?.({ kind: 'stopped' });
  }

  async #attempt(signal: AbortSignal): Promise<AttemptEnd> {
    let reportEnd: (outcome: LinkOutcome) => void = () => {};
    const ended = new Promise<LinkOutcome>((resolve) => {
      reportEnd = resolve;
    });
    const hello = (): HelloInfo => this.#hello();
    const onLink = (link: Link, welcome: Welcome): LinkHandlers => this.#watch(link, welcome, reportEnd);
    const outcome = await attemptLink({ ...this.#options, hello, onLink }, signal);
    return outcome.kind === 'linked' ? this.#live(outcome.link, ended, signal) : outcome;
  }

  /** Neither side may forget the highest epoch it has seen. */
  #hello(): HelloInfo {
    const info = this.#options.hello();
    return { ...info, lastEpoch: Math.max(info.lastEpoch, this.#lastEpoch) };
  }

  #watch(link: Link, welcome: Welcome, reportEnd: (outcome: LinkOutcome) => void): LinkHandlers {
    this.#lastEpoch = Math.max(this.#lastEpoch, welcome.epoch);
    this.#backoff.setFleetSize(welcome.fleetSize);
    this.#options.onState?.({ kind: 'live', link, welcome });
    const handlers = this.#options.onLink(link, welcome);
    return {
      onMessage: (message) => handlers.onMessage(message),
      onDrain: () => handlers.onDrain?.(),
      onClosed: (outcome) => {
        reportEnd(outcome);
        handlers.onClosed(outcome);
      },
    };
  }

  async #live(link: Link, ended: Promise<LinkOutcome>, signal: AbortSignal): Promise<AttemptEnd> {
    const { clock } = this.#options;
    const startedAtMs = clock.now();
    const stop = (): void => link.close('stopping');
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const outcome = await ended;
    signal.removeEventListener('abort', stop);
    const livedMs = clock.now() - startedAtMs;
    if (livedMs >= healthyAfterMs) this.#backoff.reset();
    return { kind: 'ended', outcome, livedMs };
  }
}

function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      cancel();
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = clock.after(delayMs, wake);
    signal.addEventListener('abort', wake, { once: true });
    if (signal.aborted) wake();
  });
}

function retryAfterOf(end: AttemptEnd): number {
  if (end.kind === 'rejected') return end.retryAfterMs;
  if (end.kind === 'ended' && end.outcome.kind === 'goodbye') return end.outcome.reconnectAfterMs;
  return 0;
}
