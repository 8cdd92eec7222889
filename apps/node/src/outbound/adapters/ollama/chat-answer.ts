import type { FinishReason, RunFailure, Usage } from '@iop/domain';
import type { EventSink, RuntimeEvent } from '@iop/runtime';
import type { Answer, Settle } from '../http-upstream/answer.ts';
import { excerpt, failureOfErrorObject } from '../http-upstream/upstream-error.ts';
import { cutFailure, fault } from '../http-upstream/upstream-fault.ts';
import { toFinish, toUsage } from './chat-end.ts';
import { LineCutter } from './line-cutter.ts';
import { type Fields, isFields, isSet } from './problem-list.ts';
import { textPieces } from './text-pieces.ts';
import { ToolCalls } from './tool-calls.ts';

/** O7: one line may take so much; beyond it the upstream is broken or hostile. */
export const maxLineBytes = 4 * 1024 * 1024;

export interface ChatAnswerInit {
  where: string;
  runId: string;
  /** Of the prompt, in UTF-16 units: for an estimate. */
  textLength: number;
  /** Tokens of prompt and answer that the model was loaded with, as far as is known now. */
  contextLength(): number | undefined;
  sink: EventSink;
  settle: Settle;
}

/** The lines of one answer of `/api/chat`, as events; O2–O8 of DESIGN.md. */
export class ChatAnswer implements Answer {
  readonly #init: ChatAnswerInit;
  readonly #cutter: LineCutter;
  readonly #calls: ToolCalls;
  #isOver = false;
  #room = true;

  constructor(init: ChatAnswerInit) {
    this.#init = init;
    this.#calls = new ToolCalls(init.runId);
    this.#cutter = new LineCutter(
      (bytes, start, end) => this.#line(bytes.subarray(start, end)),
      maxLineBytes,
    );
  }

  data(chunk: Uint8Array): boolean {
    if (this.#isOver) return true;
    this.#room = true;
    if (!this.#cutter.push(chunk) && !this.#isOver) this.#fail(tooLarge(this.#init.where));
    return this.#room;
  }

  end(): void {
    if (this.#isOver) return;
    const rest = this.#cutter.rest();
    // A last line without its end counts if it is whole in itself.
    if (parseLine(rest) !== undefined) this.#line(rest);
    if (this.#isOver) return;
    const detail = rest.length > 0 ? 'it ended in the middle of a line' : 'it ended without a last line';
    this.#fail(cutFailure(this.#init.where, detail));
  }

  broken(failure: RunFailure): void {
    if (!this.#isOver) this.#fail(failure);
  }

  abandon(): void {
    this.#isOver = true;
  }

  #line(bytes: Uint8Array): void {
    if (this.#isOver || isBlank(bytes)) return;
    const { where } = this.#init;
    const line = parseLine(bytes);
    if (line === undefined) this.#fail(malformed(where, `a line that is no object: ${excerpt(bytes)}`));
    else if (isSet(line.error)) this.#fail(failureOfErrorObject(where, line, bytes));
    else this.#fields(line);
  }

  #fields(line: Fields): void {
    if (isFields(line.message)) this.#message(line.message);
    if (line.done === true && !this.#isOver) this.#complete(line);
  }

  #message({ thinking, content, tool_calls: calls }: Fields): void {
    if (typeof thinking === 'string' && thinking !== '') {
      for (const text of textPieces(thinking)) this.#emit({ kind: 'reasoning', text });
    }
    if (typeof content === 'string' && content !== '') {
      for (const text of textPieces(content)) this.#emit({ kind: 'text', text });
    }
    if (!Array.isArray(calls)) return;
    for (const call of calls) this.#call(call);
  }

  #call(call: unknown): void {
    if (this.#isOver) return;
    const events = this.#calls.toEvents(call);
    if (events === undefined) this.#fail(malformed(this.#init.where, 'a tool call that names no function'));
    else for (const event of events) this.#emit(event);
  }

  #emit(event: RuntimeEvent): void {
    this.#room = this.#init.sink.emit(event);
  }

  #complete(line: Fields): void {
    const { textLength, settle } = this.#init;
    const usage = toUsage(line, textLength);
    this.#sayIfFull(usage);
    this.#isOver = true;
    const finish: FinishReason = toFinish(line.done_reason, this.#calls.count > 0);
    settle({ kind: 'completed', finish, ...(usage && { usage }) });
  }

  /** O8. */
  #sayIfFull(usage: Usage | undefined): void {
    const room = this.#init.contextLength();
    if (usage === undefined || usage.estimated || room === undefined || usage.promptTokens < room) return;
    const text = `${this.#init.where}: the prompt fills the whole context of ${room} tokens, so its beginning was probably cut off; raise num_ctx\n`;
    this.#emit({ kind: 'log', stream: 'system', bytes: new TextEncoder().encode(text) });
  }

  #fail(failure: RunFailure): void {
    this.#isOver = true;
    this.#init.settle({ kind: 'failed', failure });
  }
}

function parseLine(bytes: Uint8Array): Fields | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);
}

function malformed(where: string, what: string): RunFailure {
  return fault('unavailable', 'upstream.malformed', `${where} sent ${what}`);
}

function tooLarge(where: string): RunFailure {
  const message = `${where} sent a line of more than ${maxLineBytes / 1024 / 1024} MiB without an end`;
  return { ...fault('unavailable', 'upstream.line-too-large', message), retryable: false };
}
