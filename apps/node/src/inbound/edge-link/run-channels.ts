import { type Clock, LiveMap, type RunEnd } from '@iop/domain';
import { type Pump, RunOutbox, SpareRoom } from '@iop/link';
import { RunClass, type RunRequest } from '@iop/wire';
import type { AttemptRef, EndStore } from '../../ports/end-store.ts';
import type { Log } from '../../ports/log.ts';
import { EndKeeper } from './end-keeper.ts';
import { restoreChannels } from './restore-channels.ts';
import { WireChannel } from './wire-channel.ts';

export interface RunChannelsDeps {
  clock: Clock;
  log: Log;
  ends: EndStore;
  pump: Pump;
  /** A run has failed because its upstream is away. */
  upstreamAway(): void;
}

/**
 * The channels that the Edge may still ask for, one a run.
 *
 * D1: a channel is here from its RunRequest until its end is acked or the Edge drops it; that of a detached attempt also over
 *     restarts, once its end is kept.
 */
export class RunChannels {
  readonly #deps: RunChannelsDeps;
  readonly #byRun = new LiveMap<string, WireChannel>();
  readonly #keeper: EndKeeper;
  /** Of all detached attempts (K3). */
  readonly #spare = new SpareRoom();
  #whenEmpty: (() => void) | undefined;

  constructor(deps: RunChannelsDeps) {
    this.#deps = deps;
    this.#keeper = new EndKeeper(deps);
    for (const channel of restoreChannels(deps)) {
      this.#byRun.set(channel.outbox.runId, channel);
      this.#keeper.adopt(channel);
    }
  }

  get size(): number {
    return this.#byRun.size;
  }

  open({ runId, attempt, runClass, eventCredit: creditBytes }: RunRequest): WireChannel {
    const common = { runId, attempt, creditBytes, pump: this.#deps.pump };
    const channel =
      runClass === RunClass.DETACHED
        ? new WireChannel({
            outbox: new RunOutbox({ ...common, spare: this.#spare }),
            onEnd: this.#onDetachedEnd,
          })
        : new WireChannel({ outbox: new RunOutbox(common), onEnd: this.#onAttachedEnd });
    this.#byRun.set(runId, channel);
    return channel;
  }

  /** Its end was acked, or nobody wants it: nothing of it is left here (K9). */
  forget(channel: WireChannel): void {
    channel.drop();
    channel.outbox.forget();
    this.#keeper.forget(channel);
    this.#byRun.delete(channel.outbox.runId);
    if (this.#byRun.size === 0) this.#whenEmpty?.();
  }

  /** Whichever attempt of the run is here. */
  ofRun(runId: string): WireChannel | undefined {
    return this.#byRun.get(runId);
  }

  find({ runId, attempt }: AttemptRef): WireChannel | undefined {
    const channel = this.#byRun.get(runId);
    return channel?.outbox.attempt === attempt ? channel : undefined;
  }

  all(): WireChannel[] {
    return [...this.#byRun.values()];
  }

  /** Keeps what is not kept yet; with a link it resolves when none is left, or after `limitMs`. */
  async settled(isLinked: boolean, limitMs: number): Promise<void> {
    this.#keeper.flush();
    if (!isLinked || this.#byRun.size === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#deps.clock.after(limitMs, resolve);
      this.#whenEmpty = () => {
        cancel();
        resolve();
      };
    });
  }

  /** No link will come any more. */
  close(): void {
    this.#keeper.stop();
  }

  readonly #onDetachedEnd = (channel: WireChannel, end: RunEnd): void => {
    this.#note(end);
    this.#keeper.hold(channel, end);
  };

  readonly #onAttachedEnd = (channel: WireChannel, end: RunEnd): void => {
    this.#note(end);
    // What nobody takes would hold this end back for ever.
    if (end.kind === 'failed' && end.failure.code === 'run.stalled') channel.outbox.discardUnsent();
    channel.release(end);
  };

  #note(end: RunEnd): void {
    if (end.kind === 'failed' && end.failure.code === 'upstream.unreachable') this.#deps.upstreamAway();
  }
}
