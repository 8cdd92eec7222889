import type { Writable } from 'node:stream';
import { type ChatPiece, ChatReader, type RunUpdate, stateOf } from '@iop/client';
import type { RunEnd, RunState } from '@iop/domain';

type RunEvent = Extract<RunUpdate, { kind: 'event' }>['event'];

/** Shows a run to a person: the answer on stdout, everything about it on stderr. */
export class AnswerPrinter {
  readonly #out: Writable;
  readonly #notes: Writable;
  readonly #reader = new ChatReader();
  #lastByte = '\n';
  #noteOpen = false;

  constructor(out: Writable, notes: Writable) {
    this.#out = out;
    this.#notes = notes;
  }

  state(state: RunState): void {
    if (state === 'queued') this.#note('waiting for a free place…\n');
    if (state === 'unknown') this.#note('the Node’s link is down, waiting for it…\n');
  }

  event(event: RunEvent): void {
    const { case: kind, value } = event.kind;
    if (kind === 'state') this.state(stateOf(event) ?? 'unknown');
    if (kind === 'attemptEnd')
      this.#note(`attempt ${value.attempt} is over: ${value.failure?.message ?? ''}\n`);
    if (kind === 'raw') this.#pieces(this.#reader.read(value.data));
    if (kind === 'text') this.#text(value.text);
    if (kind === 'reasoning') this.#note(value.text);
    if (kind === 'toolCall') this.#note(value.name === '' ? value.argumentsJson : `\n[calls ${value.name}] `);
    if (kind === 'log') this.#note(new TextDecoder().decode(value.data));
    if (kind === 'progress') this.#note(`${value.message}\n`);
  }

  gap({ fromPos, toPos }: { fromPos: number; toPos: number }): void {
    this.#note(`\n(what came from pos ${fromPos} to ${toPos} is not kept)\n`);
  }

  end(end: RunEnd): void {
    this.#pieces(this.#reader.finish());
    if (this.#lastByte !== '\n') this.#out.write('\n');
    this.#closeNote();
    if (end.kind !== 'completed') return;
    if (end.finish === 'length') this.#notes.write('(stopped at the length limit)\n');
    if (end.finish === 'content-filter') this.#notes.write('(stopped by the content filter)\n');
  }

  #pieces(pieces: readonly ChatPiece[]): void {
    for (const piece of pieces) {
      if (piece.kind === 'text') this.#text(piece.text);
      if (piece.kind === 'reasoning') this.#note(piece.text);
      if (piece.kind === 'error') this.#note(`\nthe upstream says: ${piece.message}\n`);
      if (piece.kind === 'tool-call' && piece.name !== '') this.#note(`\n[calls ${piece.name}] `);
      if (piece.kind === 'tool-call') this.#note(piece.arguments);
    }
  }

  #text(text: string): void {
    if (text === '') return;
    this.#closeNote();
    this.#out.write(text);
    this.#lastByte = text.at(-1) ?? this.#lastByte;
  }

  #note(text: string): void {
    if (text === '') return;
    this.#notes.write(text);
    this.#noteOpen = !text.endsWith('\n');
  }

  /** Notes and answer share a terminal: the answer begins on a line of its own. */
  #closeNote(): void {
    if (this.#noteOpen) this.#notes.write('\n');
    this.#noteOpen = false;
  }
}
