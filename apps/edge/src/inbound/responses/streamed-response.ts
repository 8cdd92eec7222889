import type { Clock, RunEnd } from '@iop/domain';
import type { LogEvent } from '../../ports/run-log.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpTimes } from '../http/http-config.ts';
import { Outlet } from '../http/outlet.ts';
import type { Refusal } from '../http/refusal.ts';
import { endToRefusal } from '../http/to-http.ts';
import type { ResponseIdentity } from './response-object.ts';
import { noSuchEvent, unreadable } from './response-refusals.ts';
import { type ResponseEvent, ResponseWriter } from './response-writer.ts';
import type { RunSource, Showing } from './showing.ts';

export interface StreamedInit {
  exchange: Exchange;
  clock: Clock;
  times: HttpTimes;
  source: RunSource;
  identity: ResponseIdentity;
  /** Events up to this number are known already; -1: none. */
  startingAfter: number;
  /** The first content is waited for, so that a failure before it has a status. */
  withholdsHead: boolean;
  /** Further header fields. */
  fields: readonly string[];
}

const eventStream = [
  'content-type',
  'text/event-stream; charset=utf-8',
  'cache-control',
  'no-cache',
  'x-accel-buffering',
  'no',
];
const keepAlive = Buffer.from(': keep-alive\n\n');

/**
 * A response as server-sent events.
 *
 * S1: a withheld head waits for the first content, or `firstByteMs`: until then a failure has a status.
 * S2: the last event is the response's end, or an `error` that says why there is none.
 * S3: every write is made of whole events, so a heartbeat never falls into the middle of one.
 */
export class StreamedResponse implements Showing {
  readonly #init: StreamedInit;
  readonly #outlet: Outlet;
  readonly #writer: ResponseWriter;
  #held: string[] = [];
  #isHolding: boolean;
  #cancelBeat: () => void;

  constructor(init: StreamedInit) {
    const { exchange, clock, times, source, identity, withholdsHead } = init;
    this.#init = init;
    this.#isHolding = withholdsHead;
    const consumed = (sizeBytes: number) => source.consumed(sizeBytes);
    this.#outlet = new Outlet({ exchange, clock, fields: [...eventStream, ...init.fields], consumed });
    this.#writer = new ResponseWriter(identity, (event) => this.#show(event));
    this.#cancelBeat = clock.after(times.firstByteMs, () => this.#beat());
    this.#writer.begin();
  }

  take(events: readonly LogEvent[], sizeBytes: number): void {
    for (const event of events) this.#writer.take(event);
    if (this.#writer.hasContent) this.#release();
    this.#outlet.owe(sizeBytes);
    const { brokenBy } = this.#writer;
    if (brokenBy !== undefined && this.#init.withholdsHead) this.#abandon(unreadable(brokenBy));
  }

  end(end: RunEnd, endedAtMs: number): void {
    const { exchange, startingAfter } = this.#init;
    this.#cancelBeat();
    const { hasContent } = this.#writer;
    if (end.kind !== 'completed' && this.#isHolding) {
      exchange.refuse(endToRefusal(end, { hadContent: hasContent }));
      return;
    }
    this.#writer.finish(end, Math.floor(endedAtMs / 1000));
    const last = this.#writer.sequence - 1;
    if (startingAfter > last) this.broken(noSuchEvent(startingAfter, last));
    else this.#finish();
  }

  broken(refusal: Refusal): void {
    this.#cancelBeat();
    if (!this.#outlet.hasBegun) {
      this.#init.exchange.refuse(refusal);
      return;
    }
    const { code, message, param = null } = refusal;
    const error = { type: 'error', code, message, param, sequence_number: this.#writer.sequence };
    this.#outlet.finish(Buffer.from(encodeEvent(error)));
  }

  #show(event: ResponseEvent): void {
    if (event.sequence_number <= this.#init.startingAfter) return;
    const text = encodeEvent(event);
    if (this.#isHolding) this.#held.push(text);
    else this.#outlet.push(Buffer.from(text));
  }

  #release(): void {
    this.#isHolding = false;
    if (this.#held.length === 0) return;
    this.#outlet.push(Buffer.from(this.#held.join('')));
    this.#held = [];
  }

  #finish(): void {
    this.#release();
    this.#outlet.finish();
  }

  /** Nothing that could still come would be shown. */
  #abandon(refusal: Refusal): void {
    this.#cancelBeat();
    this.#init.source.leave();
    if (this.#isHolding) {
      this.#init.exchange.refuse(refusal);
      return;
    }
    this.#writer.finish({ kind: 'cancelled', by: 'caller' }, 0);
    this.#finish();
  }

  #beat(): void {
    const { clock, times, exchange } = this.#init;
    if (exchange.isOver) return;
    this.#release();
    const silenceMs = this.#outlet.hasBegun ? this.#outlet.silenceMs() : times.heartbeatMs;
    const isDue = silenceMs >= times.heartbeatMs;
    if (isDue && !this.#outlet.isBlocked) this.#outlet.push(keepAlive);
    this.#cancelBeat = clock.after(isDue ? times.heartbeatMs : times.heartbeatMs - silenceMs, () =>
      this.#beat(),
    );
  }
}

function encodeEvent(event: ResponseEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
