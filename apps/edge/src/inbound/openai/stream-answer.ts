import type { Clock, RunEnd } from '@iop/domain';
import { isContent, type RuntimeEvent } from '@iop/runtime';
import type { Log } from '@iop/shell';
import type { RunPlace, RunReader } from '../../core/door.ts';
import { EventJoiner } from '../http/event-joiner.ts';
import { EventNumbers } from '../http/event-numbers.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpTimes } from '../http/http-config.ts';
import { Outlet } from '../http/outlet.ts';
import { encodeError, type Refusal } from '../http/refusal.ts';
import { RunOwner } from '../http/run-owner.ts';
import { badEvent, endToRefusal, eventTooLarge } from '../http/to-http.ts';
import { identityOf } from './answer-identity.ts';
import type { ChunkEncoder, RunShape } from './run-shape.ts';

export interface AnswerInit {
  exchange: Exchange;
  clock: Clock;
  times: HttpTimes;
  log: Log;
  shape: RunShape;
  /** The name that the caller asked for. */
  model: string;
  stream: boolean;
  includeUsage: boolean;
  /** Number of the last event of the stream that the caller has already. */
  afterNumber?: number;
}

const fields = [
  'content-type',
  'text/event-stream; charset=utf-8',
  'cache-control',
  'no-cache',
  'x-accel-buffering',
  'no',
];
const done = Buffer.from('data: [DONE]\n\n');
const keepAlive = Buffer.from(': keep-alive\n\n');

/**
 * A run as server-sent events.
 *
 * S1: the head is withheld until the first content, or `firstByteMs`: until then a failure has a status.
 * S2: `[DONE]` follows only on `completed`; a failure after the head is one error event, then the end.
 * S3: every write is made of whole events, so a heartbeat never falls into the middle of one.
 * S4: every event has its number as `id`, a function of the log alone: whoever comes back is shown the rest.
 */
export class StreamAnswer implements RunReader {
  readonly owner: RunOwner;
  readonly #init: AnswerInit;
  readonly #outlet: Outlet;
  readonly #joiner = new EventJoiner();
  readonly #numbers: EventNumbers;
  #encoder: ChunkEncoder | undefined;
  #hadContent = false;
  #cancelBeat: () => void;

  constructor(init: AnswerInit) {
    const { exchange, clock, times } = init;
    this.#init = init;
    this.#numbers = new EventNumbers(init.afterNumber);
    this.owner = new RunOwner(exchange);
    const consumed = (sizeBytes: number) => this.owner.consumed(sizeBytes);
    this.#outlet = new Outlet({ exchange, clock, fields, consumed });
    this.#cancelBeat = clock.after(times.firstByteMs, () => this.#beat());
  }

  dispatched(place: RunPlace): void {
    this.#init.exchange.place = place;
  }

  events(events: readonly RuntimeEvent[], sizeBytes: number): void {
    if (this.#isOver()) return;
    for (const event of events) this.#show(event);
    this.#outlet.owe(sizeBytes);
  }

  end(end: RunEnd): void {
    // The Edge may end a run before `start` has said which run it is.
    if (!this.owner.isAttached) {
      this.#init.clock.soon(() => this.end(end));
      return;
    }
    this.owner.ended();
    this.#cancelBeat();
    if (this.#isOver()) return;
    if (end.kind !== 'completed') this.#fail(endToRefusal(end, { hadContent: this.#hadContent }));
    else if (this.#joiner.isHolding) this.#fail(badEvent('the run ended in the middle of an event'));
    else this.#complete(end);
  }

  /** The request was refused after all. */
  discard(): void {
    this.owner.ended();
    this.#cancelBeat();
  }

  readonly #push = (bytes: Uint8Array): void => this.#outlet.push(bytes);

  #isOver(): boolean {
    return this.owner.hasLeft || this.#init.exchange.isOver;
  }

  #show(event: RuntimeEvent): void {
    if (isContent(event)) this.#hadContent = true;
    if (event.kind !== 'raw') this.#encode(event);
    else if (event.dialect !== this.#init.shape.dialect)
      this.#abandon(badEvent(`it speaks ${event.dialect}`));
    else this.#join(event.bytes, event.more);
  }

  #join(bytes: Uint8Array, more: boolean): void {
    const joined = this.#joiner.add(bytes, more);
    if (joined.kind === 'whole') this.#numbers.number(joined.bytes, this.#push);
    else if (joined.kind === 'too-large') this.#abandon(eventTooLarge());
  }

  #encode(event: Exclude<RuntimeEvent, { kind: 'raw' }>): void {
    const encoder = this.#chunks();
    if (encoder === undefined) return;
    if (event.kind === 'text') this.#pushText(encoder.text(event.text));
    else if (event.kind === 'reasoning') this.#pushText(encoder.reasoning(event.text));
    else if (event.kind === 'tool-call') this.#pushText(encoder.toolCall(event));
    else if (event.kind === 'usage') encoder.usage(event.usage);
    // what cannot be shown still tells the caller that the work has begun
    else if (isContent(event)) this.#pushText(encoder.begin());
  }

  #chunks(): ChunkEncoder | undefined {
    const { shape, model, includeUsage, exchange } = this.#init;
    this.#encoder ??= shape.encoder?.(identityOf(shape, { runId: exchange.runId, model }), includeUsage);
    return this.#encoder;
  }

  #pushText(text: string): void {
    if (text !== '') this.#numbers.number(Buffer.from(text), this.#push);
  }

  #complete({ finish, usage }: Extract<RunEnd, { kind: 'completed' }>): void {
    // Raw events bring their own finish; what came in pieces of ours, or not at all, gets one.
    if (this.#encoder?.hasBegun || !this.#hadContent)
      this.#pushText(this.#chunks()?.finish(finish, usage) ?? '');
    this.#outlet.finish(done);
  }

  #fail(refusal: Refusal): void {
    if (this.#outlet.hasBegun) this.#outlet.finish(Buffer.from(`data: ${encodeError(refusal)}\n\n`));
    else this.#init.exchange.refuse(refusal);
  }

  /** The run goes on, but nothing that can be passed on comes of it. */
  #abandon(refusal: Refusal): void {
    const { exchange, log } = this.#init;
    if (this.#isOver()) return;
    log.warn({ ...exchange.labels(), code: refusal.code }, 'an answer was given up');
    this.#cancelBeat();
    this.owner.leave();
    this.#fail(refusal);
  }

  #beat(): void {
    const { clock, times } = this.#init;
    if (this.#isOver()) return;
    const silenceMs = this.#outlet.hasBegun ? this.#outlet.silenceMs() : times.heartbeatMs;
    const isDue = silenceMs >= times.heartbeatMs;
    if (isDue && !this.#outlet.isBlocked) this.#outlet.push(keepAlive);
    this.#cancelBeat = clock.after(isDue ? times.heartbeatMs : times.heartbeatMs - silenceMs, () =>
      this.#beat(),
    );
  }
}
