import type { RunEnd } from '@iop/domain';
import { isContent, type RuntimeEvent } from '@iop/runtime';
import type { RunPlace, RunReader } from '../../core/door.ts';
import { Outlet } from '../http/outlet.ts';
import type { Refusal } from '../http/refusal.ts';
import { RunOwner } from '../http/run-owner.ts';
import { answerTooLarge, badEvent, endToRefusal } from '../http/to-http.ts';
import { identityOf } from './answer-identity.ts';
import { isJson, rawFields } from './raw-head.ts';
import type { AnswerAssembler } from './run-shape.ts';
import type { AnswerInit } from './stream-answer.ts';

/** Events that have to be put together cannot be passed on before their end. */
const assembleLimitBytes = 64 * 1024 * 1024;

const jsonFields: readonly string[] = ['content-type', 'application/json'];

/**
 * A run as one body: JSON, or whatever a raw one is.
 *
 * W1: an answer that broke never looks whole: it has a status of its own, or, once its beginning has
 *     left, its connection is reset.
 * W2: an answer up to `holdBytes` of its shape has a length. What is no JSON, or a stream, is not held:
 *     whoever asked for it wants its beginning now.
 */
export class WholeAnswer implements RunReader {
  readonly owner: RunOwner;
  readonly #init: AnswerInit;
  #holdBytes: number;
  #fields = jsonFields;
  #parts: Uint8Array[] = [];
  #sizeBytes = 0;
  #hadContent = false;
  #outlet: Outlet | undefined;
  #assembler: AnswerAssembler | undefined;

  constructor(init: AnswerInit) {
    this.#init = init;
    this.#holdBytes = init.shape.holdBytes;
    this.owner = new RunOwner(init.exchange);
  }

  dispatched(place: RunPlace): void {
    this.#init.exchange.place = place;
  }

  events(events: readonly RuntimeEvent[], sizeBytes: number): void {
    if (this.#isOver()) return;
    this.#sizeBytes += sizeBytes;
    for (const event of events) this.#keep(event);
    if (this.#outlet !== undefined) this.#outlet.owe(sizeBytes);
    else this.owner.consumed(sizeBytes);
    if (this.#sizeBytes > this.#holdBytes) this.#spill();
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
    else if (event.kind === 'head') this.#takeHead(event.contentType);
    else this.#put(event);
  }

  #keepRaw(event: Extract<RuntimeEvent, { kind: 'raw' }>): void {
    const { dialect } = this.#init.shape;
    if (event.dialect !== dialect) this.#abandon(badEvent(`it speaks ${event.dialect}`));
    else if (this.#outlet !== undefined) this.#outlet.push(event.bytes);
    else this.#parts.push(event.bytes);
  }

  #takeHead(contentType: string): void {
    const { shape, stream } = this.#init;
    if (shape.dialect !== 'openai.raw') return;
    this.#fields = rawFields(contentType);
    this.#holdBytes = isJson(contentType) && !stream ? shape.holdBytes : 0;
  }

  #put(event: Exclude<RuntimeEvent, { kind: 'raw' | 'head' }>): void {
    const assembler = this.#assemble();
    if (assembler === undefined) {
      if (isContent(event)) this.#abandon(badEvent(`it is ${event.kind}, which this path cannot show`));
    } else if (event.kind === 'text') assembler.text(event.text);
    else if (event.kind === 'reasoning') assembler.reasoning(event.text);
    else if (event.kind === 'tool-call') assembler.toolCall(event);
    else if (event.kind === 'usage') assembler.usage(event.usage);
  }

  #assemble(): AnswerAssembler | undefined {
    this.#assembler ??= this.#init.shape.assembler?.();
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
    this.#outlet = new Outlet({ exchange, clock, fields: this.#fields, consumed });
    for (const part of this.#parts) this.#outlet.push(part);
    this.#parts = [];
  }

  #complete(end: Extract<RunEnd, { kind: 'completed' }>): void {
    if (this.#outlet !== undefined) this.#outlet.finish();
    else if (this.#parts.length > 0 || this.#init.shape.dialect === 'openai.raw') this.#answer(this.#parts);
    else this.#answerAssembled(end);
  }

  #answer(parts: readonly Uint8Array[]): void {
    const [first] = parts;
    const body = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
    this.#init.exchange.answer(200, this.#fields, body);
  }

  #answerAssembled({ finish, usage }: Extract<RunEnd, { kind: 'completed' }>): void {
    const { exchange, shape, model } = this.#init;
    const identity = identityOf(shape, { runId: exchange.runId, model });
    const body = this.#assemble()?.finish(identity, finish, usage);
    if (body === undefined) this.#fail(badEvent('it is empty'));
    else exchange.answer(200, this.#fields, body);
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
