import type { FinishReason, RunFailure, Usage } from '@iop/domain';
import type { EventSink, FactName, RuntimeEvent } from '@iop/runtime';
import type { Answer, Settle } from '../http-upstream/answer.ts';
import { excerpt, failureOfErrorObject } from '../http-upstream/upstream-error.ts';
import { cutFailure } from '../http-upstream/upstream-fault.ts';
import { LineCutter } from '../line-cutter.ts';
import { toFinish, toUsage } from './answer-end.ts';
import { isBlank, maxLineBytes, parseLine } from './answer-line.ts';
import { malformed, tooLarge } from './ollama-failure.ts';
import { type Fields, isFields, isSet } from './problem-list.ts';
import { textPieces } from './text-pieces.ts';
import { ToolCalls } from './tool-calls.ts';

export interface LineAnswerInit {
  where: string;
  runId: string;
  /** What an answer that is whole shows. */
  fact: 'chat' | 'completions';
  /** What the answer begins with, whatever the model says; empty: nothing. */
  echo: string;
  /** Of the prompt, in UTF-16 units: for an estimate. */
  textLength: number;
  /** Tokens of prompt and answer that the model was loaded with, as far as is known now. */
  contextLength(): number | undefined;
  /** A line showed that the model can do this. */
  saw(fact: FactName): void;
  sink: EventSink;
  settle: Settle;
}

/** The lines of one answer of `/api/chat` or `/api/generate`, as events; O2–O8 of DESIGN.md. */
export class LineAnswer implements Answer {
  readonly #init: LineAnswerInit;
  readonly #cutter: LineCutter;
  readonly #calls: ToolCalls;
  #echo: string;
  #isOver = false;
  #room = true;

  constructor(init: LineAnswerInit) {
    this.#init = init;
    this.#echo = init.echo;
    this.#calls = new ToolCalls(init.runId);
    this.#cutter = new LineCutter(
      (bytes, start, end) => this.#line(bytes.subarray(start, end)),
      maxLineBytes,
    );
  }

  data(chunk: Uint8Array): boolean {
    if (this.#isOver) return true;
    this.#room = true;
    if (!this.#cutter.push(chunk) && !this.#isOver)
      this.#fail(tooLarge(this.#init.where, 'line', maxLineBytes));
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
    this.#text(this.#echo);
    this.#echo = '';
    // What a chat has in its message, a completion has in the line itself.
    if (isFields(line.message)) this.#message(line.message);
    else this.#message({ thinking: line.thinking, content: line.response });
    if (line.done === true && !this.#isOver) this.#complete(line);
  }

  #message({ thinking, content, tool_calls: calls }: Fields): void {
    if (typeof thinking === 'string' && thinking !== '') {
      this.#init.saw('reasoning');
      for (const text of textPieces(thinking)) this.#emit({ kind: 'reasoning', text });
    }
    if (typeof content === 'string') this.#text(content);
    if (Array.isArray(calls)) for (const call of calls) this.#call(call);
  }

  #text(whole: string): void {
    if (whole !== '') for (const text of textPieces(whole)) this.#emit({ kind: 'text', text });
  }

  #call(call: unknown): void {
    if (this.#isOver) return;
    const events = this.#calls.toEvents(call);
    if (events === undefined) this.#fail(malformed(this.#init.where, 'a tool call that names no function'));
    else {
      this.#init.saw('tools');
      this.#init.saw('stream-tools');
      for (const event of events) this.#emit(event);
    }
  }

  #emit(event: RuntimeEvent): void {
    this.#room = this.#init.sink.emit(event);
  }

  #complete(line: Fields): void {
    const { textLength, settle, saw, fact } = this.#init;
    const usage = toUsage(line, textLength);
    saw(fact);
    if (usage !== undefined && !usage.estimated) saw('usage-in-stream');
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
