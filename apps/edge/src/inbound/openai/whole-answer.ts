import type { RunEnd } from '@iop/domain';
import { isContent, type RuntimeEvent } from '@iop/runtime';
import type { RunPlace, RunReader } from '../../core/door.ts';
import type { Refusal } from '../http/refusal.ts';
import { CompletionAssembler } from './completion-assembler.ts';
import { Outlet } from './outlet.ts';
import { RunOwner } from './run-owner.ts';
import type { AnswerInit } from './stream-answer.ts';
import { answerTooLarge, badEvent, endToRefusal } from './to-http.ts';

/** Up to here an answer waits for its end, so that it has a length and a failure has a status. */
export const wholeLimitBytes = 8 * 1024 * 1024;
/** Events that have to be put together cannot be passed on before their end. */
const assembleLimitBytes = 64 * 1024 * 1024;

const fields = ['content-type', 'application/json'];

/**
 * A run as one JSON body.
 *
 * W1: an answer that broke never looks whole: it has a status of its own, or, once its beginning has
 *     left, its connection is reset.
 */
export class WholeAnswer implements RunReader {
  readonly owner: RunOwner;
  readonly #init: AnswerInit;
  #parts: Uint8Array[] = [];
  #sizeBytes = 0;
  #hadContent = false;
  #outlet: Outlet | undefined;
  #assembler: CompletionAssembler | undefined;

  constructor(init: AnswerInit) {
    this.#init = init;
    this.owner = new RunOwner(init.exchange);
  }

  dispatched(place: RunPlace): void {
    this.#init.exchange.node = place.node;
  }

  events(events: readonly RuntimeEvent[], sizeBytes: number): void {
    if (this.#isOver()) return;
    this.#sizeBytes += sizeBytes;
    for (const event of events) this.#keep(event);
    if (this.#outlet !== undefined) this.#outlet.owe(sizeBytes);
    else this.owner.consumed(sizeBytes);
    if (this.#sizeBytes > wholeLimitBytes) this.#spill();
  }

  end(end: RunEnd): void {
    // The Edge may end a run before `start` has said which run it is.
    if (!this.owner.isAttached) {
      this.#init.clock.soon(() => this.end(end));
      return;
    }
    this.owner.ended();
    if (this.#isOver()) return;
    if (end.kind === 'completed') this.#complete(end);
    else this.#fail(endToRefusal(end, { hadContent: this.#hadContent }));
  }

  /** The request was refused after all. */
  discard(): void {
    this.owner.ended();
  }

  #isOver(): boolean {
    return this.owner.hasLeft || this.#init.exchange.isOver;
  }

  #keep(event: RuntimeEvent): void {
    if (isContent(event)) this.#hadContent = true;
    if (event.kind === 'raw') this.#keepRaw(event);
    else if (event.kind === 'text') this.#assemble().text(event.text);
    else if (event.kind === 'reasoning') this.#assemble().reasoning(event.text);
    else if (event.kind === 'tool-call') this.#assemble().toolCall(event);
    else if (event.kind === 'usage') this.#assemble().usage(event.usage);
  }

  #keepRaw(event: Extract<RuntimeEvent, { kind: 'raw' }>): void {
    if (event.dialect !== 'openai.chat') this.#abandon(badEvent(`it speaks ${event.dialect}`));
    else if (this.#outlet !== undefined) this.#outlet.push(event.bytes);
    else this.#parts.push(event.bytes);
  }

  #assemble(): CompletionAssembler {
    this.#assembler ??= new CompletionAssembler();
    return this.#assembler;
  }

  /** Too long to wait for its end: from here on it is passed through as fast as the caller reads. */
  #spill(): void {
    if (this.#outlet !== undefined || this.#isOver()) return;
    if (this.#parts.length === 0) {
      if (this.#sizeBytes > assembleLimitBytes) this.#abandon(answerTooLarge());
      return;
    }
    const { exchange, clock } = this.#init;
    const consumed = (sizeBytes: number) => this.owner.consumed(sizeBytes);
    this.#outlet = new Outlet({ exchange, clock, fields, consumed });
    for (const part of this.#parts) this.#outlet.push(part);
    this.#parts = [];
  }

  #complete({ finish, usage }: Extract<RunEnd, { kind: 'completed' }>): void {
    const { exchange, identity } = this.#init;
    const [first] = this.#parts;
    if (this.#outlet !== undefined) this.#outlet.finish();
    else if (first === undefined)
      exchange.answer(200, fields, this.#assemble().finish(identity, finish, usage));
    else exchange.answer(200, fields, this.#parts.length === 1 ? first : Buffer.concat(this.#parts));
  }

  #fail(refusal: Refusal): void {
    const { exchange } = this.#init;
    if (exchange.hasBegun) exchange.cut();
    else exchange.refuse(refusal);
  }

  /** The run goes on, but nothing that can be passed on comes of it. */
  #abandon(refusal: Refusal): void {
    const { exchange, log } = this.#init;
    if (this.#isOver()) return;
    log.warn({ ...exchange.labels(), code: refusal.code }, 'an answer was given up');
    this.owner.leave();
    this.#fail(refusal);
  }
}
