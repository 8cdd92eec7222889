import type { FinishReason, RunEnd } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';
import type { AnswerPart, AnswerUsage } from '../../dialects/answer-part.ts';
import { ChatAnswerReader, fromUsage } from '../../dialects/chat-answer-reader.ts';
import { isOwnEvent, type LogEvent } from '../../ports/run-log.ts';
import type { Fields } from '../http/problem.ts';
import { brokenEnd, type Outcome, outcomeOf } from './response-end.ts';
import { type ResponseIdentity, toResponse } from './response-object.ts';
import { ResponseOutput } from './response-output.ts';

/** An event of a response's stream, numbered from 0. */
export type ResponseEvent = Fields & { type: string; sequence_number: number };

/** Longest answer whose end can show it whole, in characters. */
const longestAnswer = 64 * 1024 * 1024;

/**
 * The events of a response from the log of its run.
 *
 * V1: they are a function of the request and the log alone, so whoever reads the log again, from wherever and after
 *     whatever restart, gets the same events under the same numbers.
 * V2: they end with exactly one of completed, incomplete and failed; what is not whole never says completed.
 */
export class ResponseWriter {
  readonly #identity: ResponseIdentity;
  readonly #emit: (event: ResponseEvent) => void;
  readonly #reader: ChatAnswerReader;
  readonly #output: ResponseOutput;
  #sequence = 0;
  #size = 0;
  #hasStarted = false;
  #finish: FinishReason | undefined;
  #usage: AnswerUsage | undefined;
  #broken: Outcome | undefined;
  #outcome: Outcome | undefined;
  #completedAtS: number | undefined;

  constructor(identity: ResponseIdentity, emit: (event: ResponseEvent) => void = ignore) {
    this.#identity = identity;
    this.#emit = emit;
    this.#reader = new ChatAnswerReader({ isWhole: identity.isWhole === true });
    this.#output = new ResponseOutput(identity, (type, fields) => this.#send(type, fields));
  }

  /** Content came, so a failure cannot be told by a status any more. */
  get hasContent(): boolean {
    return this.#size > 0 || this.#output.hasItems;
  }

  /** Of the next event. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Why the answer cannot be passed on, whatever may still come. */
  get brokenBy(): { code: string; message: string } | undefined {
    return this.#broken?.error && { ...this.#broken.error, code: String(this.#broken.own?.error_code) };
  }

  /** What is known before anything has happened. */
  begin(): void {
    const { background } = this.#identity.ask;
    this.#send('response.created', { response: this.toResponse() });
    if (background) this.#send('response.queued', { response: this.toResponse() });
    else this.#start();
  }

  take(event: LogEvent): void {
    if (event.kind === 'attempt') this.#start();
    if (isOwnEvent(event) || this.#broken !== undefined) return;
    for (const part of this.#reader.read(event as RuntimeEvent)) this.#part(part);
  }

  /** @param endedAtS seconds since 1970 */
  finish(end: RunEnd, endedAtS: number): void {
    this.#start();
    if (end.kind === 'completed') for (const part of this.#reader.end()) this.#part(part);
    if (end.kind === 'completed' && this.#reader.isHolding) this.#broken ??= brokenEnd(cutEvent);
    this.#usage ??= end.usage && fromUsage(end.usage);
    const finish = end.kind === 'completed' && end.finish === 'other' ? this.#finish : undefined;
    const outcome = this.#broken ?? outcomeOf(finish === undefined ? end : ({ ...end, finish } as RunEnd));
    if (outcome.status === 'completed' || outcome.status === 'incomplete') this.#output.close(outcome.status);
    if (outcome.status === 'completed') this.#completedAtS = endedAtS;
    this.#outcome = outcome;
    this.#send(outcome.event, { response: this.toResponse() });
  }

  toResponse(): Fields {
    const { status, error, incomplete, own } = this.#outcome ?? { status: this.#statusNow() };
    return toResponse(this.#identity, {
      status,
      output: this.#output.toFields(this.#outcome === undefined ? 'in_progress' : 'incomplete'),
      usage: this.#usage,
      completedAtS: this.#completedAtS,
      error,
      incomplete,
      own,
    });
  }

  #statusNow() {
    return this.#hasStarted || !this.#identity.ask.background
      ? ('in_progress' as const)
      : ('queued' as const);
  }

  #start(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    this.#send('response.in_progress', { response: this.toResponse() });
  }

  #part(part: AnswerPart): void {
    this.#start();
    if (part.kind === 'usage') this.#usage = part.usage;
    else if (part.kind === 'finish') this.#finish = part.finish;
    else if (part.kind === 'error') this.#broken = brokenEnd(part.error);
    else this.#size += this.#output.add(part);
    if (this.#size > longestAnswer) this.#broken ??= brokenEnd(tooLarge);
  }

  #send(type: string, fields: Fields): void {
    this.#emit({ type, sequence_number: this.#sequence, ...fields });
    this.#sequence += 1;
  }
}

const cutEvent = {
  message: 'The answer cannot be passed on: the run ended in the middle of an event.',
  type: 'server_error',
  code: 'answer.unreadable',
};

const tooLarge = {
  message: 'The answer is larger than 64 MiB.',
  type: 'server_error',
  code: 'answer.too-large',
};

function ignore(): void {}
