import type { Clock, RunEnd } from '@iop/domain';
import type { EndStore } from '../../ports/end-store.ts';
import type { Log } from '../../ports/log.ts';
import { toKeptEnd } from './kept-end.ts';
import type { WireChannel } from './wire-channel.ts';

export interface EndKeeperDeps {
  clock: Clock;
  log: Log;
  ends: EndStore;
}

interface HeldEnd {
  channel: WireChannel;
  end: RunEnd;
  endedAtMs: number;
  sinceMs: number;
  isTried: boolean;
  isReleased: boolean;
}

const firstRetryMs = 250;
const longestRetryMs = 8_000;
/** Then an end leaves although the disk does not take it; DESIGN.md says why. */
export const releaseAfterMs = 30_000;
/** Of the main thread, at most a part in so many is spent on commits. */
const restFactor = 4;

/**
 * Stands between the end of a detached attempt and its outbox: no end leaves before it is on the disk (K4).
 *
 * Ends of one turn are one commit; the next one waits for four times as long as the last one took, and takes all that came
 * meanwhile. What the disk refuses is tried again, one by one, so that none holds back another.
 */
export class EndKeeper {
  readonly #deps: EndKeeperDeps;
  readonly #held = new Map<WireChannel, HeldEnd>();
  readonly #kept = new Set<WireChannel>();
  #isDue = false;
  #isFailing = false;
  #isStopped = false;
  #notBeforeMs = 0;
  #retryMs = firstRetryMs;
  #cancelRetry: (() => void) | undefined;

  constructor(deps: EndKeeperDeps) {
    this.#deps = deps;
  }

  /** Calls `channel.release(end)` as soon as it may leave; never before returning. */
  hold(channel: WireChannel, end: RunEnd): void {
    const { clock } = this.#deps;
    const times = { endedAtMs: clock.wall(), sinceMs: clock.now() };
    this.#held.set(channel, { channel, end, ...times, isTried: false, isReleased: false });
    if (this.#isDue) return;
    this.#isDue = true;
    const waitMs = this.#notBeforeMs - clock.now();
    if (waitMs > 0 && !this.#isStopped) clock.after(waitMs, this.#keepNew);
    else clock.atTurnEnd(this.#keepNew);
  }

  /** The end of this one was kept by an earlier process. */
  adopt(channel: WireChannel): void {
    this.#kept.add(channel);
  }

  /** The Edge has it, or wants nothing of it. */
  forget(channel: WireChannel): void {
    this.#held.delete(channel);
    if (this.#kept.delete(channel)) this.#deps.ends.forget(channel.outbox);
  }

  /** The process is about to go: what the disk does not take now leaves without it, if there is a link. */
  flush(): void {
    this.#keep([...this.#held.values()]);
    this.#keepEach();
    for (const held of this.#held.values()) this.#release(held);
  }

  /** Leaves no timer behind. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
  }

  readonly #keepNew = (): void => {
    this.#isDue = false;
    this.#keep([...this.#held.values()].filter(({ isTried }) => !isTried));
    this.#retryLater();
  };

  readonly #retry = (): void => {
    this.#cancelRetry = undefined;
    this.#retryMs = Math.min(longestRetryMs, 2 * this.#retryMs);
    this.#keepEach();
    const now = this.#deps.clock.now();
    for (const held of this.#held.values()) if (now - held.sinceMs >= releaseAfterMs) this.#release(held);
    this.#retryLater();
  };

  #retryLater(): void {
    if (this.#held.size === 0) this.#retryMs = firstRetryMs;
    else if (!this.#isStopped) this.#cancelRetry ??= this.#deps.clock.after(this.#retryMs, this.#retry);
  }

  #keepEach(): void {
    for (const held of [...this.#held.values()]) this.#keep([held]);
  }

  #keep(group: readonly HeldEnd[]): void {
    if (group.length === 0) return;
    const { clock, ends } = this.#deps;
    const startedMs = clock.now();
    for (const held of group) held.isTried = true;
    try {
      ends.keep(group.map(({ channel, end, endedAtMs }) => toKeptEnd(channel.outbox, end, endedAtMs)));
      this.#onKept(group);
    } catch (error) {
      this.#onRefused(error);
    }
    this.#notBeforeMs = clock.now() + restFactor * (clock.now() - startedMs);
  }

  #onKept(group: readonly HeldEnd[]): void {
    if (this.#isFailing) this.#deps.log.info({}, 'ends of detached runs are kept again');
    this.#isFailing = false;
    for (const { channel, end, isReleased } of group) {
      this.#held.delete(channel);
      this.#kept.add(channel);
      if (!isReleased) channel.release(end);
    }
  }

  /** Told once, until it works again. */
  #onRefused(error: unknown): void {
    const fields = { ends: this.#held.size, error: String(error) };
    if (!this.#isFailing) {
      this.#deps.log.error(fields, 'ends of detached runs cannot be kept; they wait for the disk');
    }
    this.#isFailing = true;
  }

  #release(held: HeldEnd): void {
    if (held.isReleased) return;
    held.isReleased = true;
    const { runId: run, attempt } = held.channel.outbox;
    const text =
      'the end of a run leaves without being kept: it is lost if this process dies before its edge has it';
    this.#deps.log.error({ run, attempt }, text);
    held.channel.release(held.end);
  }
}
