import type { RunEnd } from '@iop/domain';
import { isContent, type RuntimeEvent } from '@iop/runtime';
import type { RunPlace, RunReader } from '../../core/door.ts';
import { Outlet } from '../http/outlet.ts';
import type { Refusal } from '../http/refusal.ts';
import { RunOwner } from '../http/run-owner.ts';
import { endToRefusal } from '../http/to-http.ts';
import { AnswerIntake, isRefusal } from './answer-intake.ts';
import { encodeAnthropicError } from './error-style.ts';
import { MessageEvents } from './message-events.ts';
import { type MessageInit, messageIdentity, unsupportedFields } from './message-init.ts';

const streamFields = [
  'content-type',
  'text/event-stream; charset=utf-8',
  'cache-control',
  'no-cache',
  'x-accel-buffering',
  'no',
];

/**
 * A run as the server-sent events of one message.
 *
 * M1: the head is withheld until the first content, or `firstByteMs`: until then a failure has a status.
 * M2: `message_stop` follows only on `completed`; a failure after the head is one `error` event, then the end.
 * M3: every write is made of whole events, so a ping never falls into the middle of one.
 */
export class MessageStream implements RunReader {
  readonly owner: RunOwner;
  readonly #init: MessageInit;
  readonly #outlet: Outlet;
  readonly #events: MessageEvents;
  readonly #intake: AnswerIntake;
  #hadContent = false;
  #cancelBeat: () => void;

  constructor(init: MessageInit) {
    const { exchange, clock, times, request } = init;
    this.#init = init;
    this.owner = new RunOwner(exchange);
    const fields = [...streamFields, ...unsupportedFields(request)];
    const consumed = (sizeBytes: number) => this.owner.consumed(sizeBytes);
    this.#outlet = new Outlet({ exchange, clock, fields, consumed });
    this.#events = new MessageEvents(() => messageIdentity(init), init.firstUsage);
    this.#intake = new AnswerIntake(this.#events);
    this.#cancelBeat = clock.after(times.firstByteMs, () => this.#beat());
  }

  dispatched(place: RunPlace): void {
    this.#init.exchange.place = place;
  }

  events(events: readonly RuntimeEvent[], sizeBytes: number): void {
    if (this.#isOver()) return;
    for (const event of events) {
      if (isContent(event)) this.#hadContent = true;
      const refusal = this.#intake.take(event);
      if (refusal !== undefined) {
        this.#abandon(refusal);
        return;
      }
    }
    if (this.#intake.hasContent) this.#events.begin();
    this.#push();
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
    if (end.kind === 'completed') this.#complete(end);
    else this.#fail(endToRefusal(end, { hadContent: this.#hadContent }));
  }

  /** The request was refused after all. */
  discard(): void {
    this.owner.ended();
    this.#cancelBeat();
  }

  #isOver(): boolean {
    return this.owner.hasLeft || this.#init.exchange.isOver;
  }

  #push(): void {
    const text = this.#events.take();
    if (text !== '') this.#outlet.push(Buffer.from(text));
  }

  #complete(end: Extract<RunEnd, { kind: 'completed' }>): void {
    const message = this.#intake.complete(end, this.#init.firstUsage);
    if (isRefusal(message)) {
      this.#fail(message);
      return;
    }
    this.#events.finish(message);
    this.#outlet.finish(Buffer.from(this.#events.take()));
  }

  #fail(refusal: Refusal): void {
    const { exchange } = this.#init;
    if (!this.#outlet.hasBegun) {
      exchange.refuse(refusal);
      return;
    }
    this.#push();
    const error = encodeAnthropicError(refusal, exchange.requestId);
    this.#outlet.finish(Buffer.from(`event: error\ndata: ${error}\n\n`));
  }

  /** The run goes on, but nothing that can be passed on comes of it. */
  #abandon(refusal: Refusal): void {
    const { exchange, log } = this.#init;
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
    if (isDue && !this.#outlet.isBlocked) {
      this.#events.ping();
      this.#push();
    }
    const waitMs = isDue ? times.heartbeatMs : times.heartbeatMs - silenceMs;
    this.#cancelBeat = clock.after(waitMs, () => this.#beat());
  }
}
