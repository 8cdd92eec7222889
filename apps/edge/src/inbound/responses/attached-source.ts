import type { Clock, RunEnd } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';
import type { AttachedRun, RunPlace, RunReader } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import { RunOwner } from '../http/run-owner.ts';
import type { RunSource, Showing } from './showing.ts';

/** A run that lives as long as this exchange. What it says before it is known which run it is, is kept until then. */
export class AttachedSource implements RunReader, RunSource {
  readonly #owner: RunOwner;
  readonly #exchange: Exchange;
  readonly #clock: Clock;
  #early: (() => void)[] = [];
  #showing: Showing | undefined;

  constructor(exchange: Exchange, clock: Clock) {
    this.#exchange = exchange;
    this.#clock = clock;
    this.#owner = new RunOwner(exchange);
  }

  attach(run: AttachedRun, show: (source: RunSource) => Showing): void {
    this.#owner.attach(run);
    this.#showing = show(this);
    const early = this.#early;
    this.#early = [];
    for (const call of early) call();
  }

  dispatched(place: RunPlace): void {
    this.#exchange.place = place;
  }

  events(events: readonly RuntimeEvent[], sizeBytes: number): void {
    if (this.#showing === undefined) this.#early.push(() => this.events(events, sizeBytes));
    else if (!this.#isOver()) this.#showing.take(events, sizeBytes);
  }

  end(end: RunEnd): void {
    if (this.#showing === undefined) {
      this.#early.push(() => this.end(end));
      return;
    }
    const isOver = this.#isOver();
    this.#owner.ended();
    if (!isOver) this.#showing.end(end, this.#clock.wall());
  }

  consumed(sizeBytes: number): void {
    this.#owner.consumed(sizeBytes);
  }

  leave(): void {
    this.#owner.leave();
  }

  /** The request was refused after all. */
  discard(): void {
    this.#owner.ended();
  }

  #isOver(): boolean {
    return this.#owner.hasLeft || this.#exchange.isOver;
  }
}
