import type { RunEnd } from '@iop/domain';
import { isContent, type RuntimeEvent } from '@iop/runtime';
import type { RunPlace, RunReader } from '../../core/door.ts';
import type { Refusal } from '../http/refusal.ts';
import { RunOwner } from '../http/run-owner.ts';
import { answerTooLarge, endToRefusal } from '../http/to-http.ts';
import { AnswerIntake, isRefusal } from './answer-intake.ts';
import { MessageBody } from './message-body.ts';
import { type MessageInit, messageIdentity, unsupportedFields } from './message-init.ts';

/** A message has to be put together, so it waits for its end. */
const holdLimitBytes = 64 * 1024 * 1024;

/** A run as one message. It has a length and, if its run fails, a status: a part never looks like the whole. */
export class MessageWhole implements RunReader {
  readonly owner: RunOwner;
  readonly #init: MessageInit;
  readonly #body = new MessageBody();
  readonly #intake = new AnswerIntake(this.#body);
  #sizeBytes = 0;
  #hadContent = false;

  constructor(init: MessageInit) {
    this.#init = init;
    this.owner = new RunOwner(init.exchange);
  }

  dispatched(place: RunPlace): void {
    this.#init.exchange.place = place;
  }

  events(events: readonly RuntimeEvent[], sizeBytes: number): void {
    if (this.#isOver()) return;
    this.#sizeBytes += sizeBytes;
    for (const event of events) {
      if (isContent(event)) this.#hadContent = true;
      const refusal = this.#intake.take(event);
      if (refusal !== undefined) {
        this.#abandon(refusal);
        return;
      }
    }
    if (this.#sizeBytes > holdLimitBytes) this.#abandon(answerTooLarge());
    else this.owner.consumed(sizeBytes);
  }

  end(end: RunEnd): void {
    // The Edge may end a run before `start` has said which run it is.
    if (!this.owner.isAttached) {
      this.#init.clock.soon(() => this.end(end));
      return;
    }
    this.owner.ended();
    const { exchange } = this.#init;
    if (this.#isOver()) return;
    if (end.kind === 'completed') this.#complete(end);
    else exchange.refuse(endToRefusal(end, { hadContent: this.#hadContent }));
  }

  /** The request was refused after all. */
  discard(): void {
    this.owner.ended();
  }

  #isOver(): boolean {
    return this.owner.hasLeft || this.#init.exchange.isOver;
  }

  #complete(end: Extract<RunEnd, { kind: 'completed' }>): void {
    const { exchange, request } = this.#init;
    const message = this.#intake.complete(end, this.#init.firstUsage);
    if (isRefusal(message)) {
      exchange.refuse(message);
      return;
    }
    const fields = ['content-type', 'application/json', ...unsupportedFields(request)];
    exchange.answer(200, fields, this.#body.finish(messageIdentity(this.#init), message));
  }

  /** The run goes on, but nothing that can be passed on comes of it. */
  #abandon(refusal: Refusal): void {
    const { exchange, log } = this.#init;
    log.warn({ ...exchange.labels(), code: refusal.code }, 'an answer was given up');
    this.owner.leave();
    exchange.refuse(refusal);
  }
}
