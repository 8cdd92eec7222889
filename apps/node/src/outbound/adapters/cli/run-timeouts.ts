import type { CliProfile } from '@iop/cli-profile';
import type { Clock, RunFailure } from '@iop/domain';
import { cliFailure } from './exit-verdict.ts';

export interface TimeoutsInit {
  clock: Clock;
  profile: CliProfile;
  /** The caller takes nothing at the moment: that is not the program's silence (C8). */
  isHeldUp(): boolean;
  expired(failure: RunFailure): void;
}

/** Time-out by progress and in total; 0 in the profile: none. One timer for each, whatever comes. */
export class RunTimeouts {
  readonly #init: TimeoutsInit;
  #progressAtMs: number;
  #cancelProgress = () => {};
  #cancelTotal = () => {};

  constructor(init: TimeoutsInit) {
    this.#init = init;
    const { clock, profile } = init;
    this.#progressAtMs = clock.now();
    if (profile.progress_timeout > 0) this.#arm(profile.progress_timeout);
    if (profile.total_timeout > 0)
      this.#cancelTotal = clock.after(profile.total_timeout, () => this.#expireTotal());
  }

  progress(): void {
    this.#progressAtMs = this.#init.clock.now();
  }

  stop(): void {
    this.#cancelProgress();
    this.#cancelTotal();
  }

  #arm(delayMs: number): void {
    this.#cancelProgress = this.#init.clock.after(delayMs, () => this.#look());
  }

  #look(): void {
    const { clock, profile, isHeldUp, expired } = this.#init;
    if (isHeldUp()) this.#progressAtMs = clock.now();
    const leftMs = this.#progressAtMs + profile.progress_timeout - clock.now();
    if (leftMs > 0) {
      this.#arm(leftMs);
      return;
    }
    const message = `${profile.program} put nothing out for ${profile.progress_timeout / 1000} s`;
    expired(cliFailure('timeout', 'cli.stalled', message));
  }

  #expireTotal(): void {
    const { profile, expired } = this.#init;
    const message = `${profile.program} did not end within ${profile.total_timeout / 1000} s`;
    expired(cliFailure('timeout', 'cli.timeout', message));
  }
}
