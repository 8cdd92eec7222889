import type { AnswerPart } from '../../dialects/answer-part.ts';
import { JsonEnd } from './json-end.ts';

export type BlockHead =
  | { kind: 'text' }
  | { kind: 'thinking' }
  | { kind: 'tool-use'; id: string; name: string };

/** Gets the blocks of an answer one after the other. */
export interface BlockSink {
  open(head: BlockHead): void;
  /** To the open block: words, or a piece of a call's arguments. */
  add(piece: string): void;
  close(): void;
}

interface Block {
  head: BlockHead;
  /** Of a call. */
  index?: number;
  end?: JsonEnd;
  held: string[];
}

const heldLimit = 4 * 1024 * 1024;

/**
 * Stands the pieces of an answer in line: blocks go out in the order in which they began, each whole before the next.
 *
 * B1: one block is open at a time, also where an upstream streams several calls at once. Pieces of later ones wait.
 * B2: a call is over when its arguments are whole JSON and something else has begun; all are when the answer ends.
 */
export class BlockLine {
  readonly #sink: BlockSink;
  #line: Block[] = [];
  readonly #gone = new Set<number>();
  #heldChars = 0;

  constructor(sink: BlockSink) {
    this.#sink = sink;
  }

  /** @returns what is wrong with the answer, in words; undefined: nothing */
  take(part: AnswerPart): string | undefined {
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return this.#words({ kind: 'text' }, part.text);
      case 'reasoning':
        return this.#words({ kind: 'thinking' }, part.text);
      case 'tool-call':
        this.#begin({ head: toHead(part), index: part.index, end: new JsonEnd(), held: [] });
        return undefined;
      case 'tool-arguments':
        return this.#arguments(part.index, part.json);
      default:
        return undefined;
    }
  }

  /** Nothing follows. */
  finish(): void {
    for (const block of this.#line.slice(1)) this.#next(block);
    if (this.#line.length > 0) this.#sink.close();
    this.#line = [];
  }

  #words(head: BlockHead, text: string): string | undefined {
    const last = this.#line.at(-1);
    if (last?.head.kind === head.kind) return this.#add(last, text);
    const block = { head, held: [] };
    this.#begin(block);
    return this.#add(block, text);
  }

  #arguments(index: number, json: string): string | undefined {
    const block = this.#line.find((each) => each.index === index);
    if (block !== undefined) return this.#add(block, json);
    const isLate = this.#gone.has(index) && json.trim() !== '';
    return isLate ? 'a tool call went on after its end' : undefined;
  }

  #begin(block: Block): void {
    this.#line.push(block);
    if (this.#line.length === 1) this.#sink.open(block.head);
    else this.#advance();
  }

  #add(block: Block, piece: string): string | undefined {
    block.end?.push(piece);
    if (block === this.#line[0]) this.#sink.add(piece);
    else {
      block.held.push(piece);
      this.#heldChars += piece.length;
    }
    this.#advance();
    return this.#heldChars > heldLimit ? 'its tool calls are streamed side by side and too large' : undefined;
  }

  #advance(): void {
    while (this.#line.length > 1 && this.#line[0]?.end?.isWhole !== false) {
      const [first, second] = this.#line;
      if (first?.index !== undefined) this.#gone.add(first.index);
      this.#line.shift();
      if (second !== undefined) this.#next(second);
    }
  }

  #next({ head, held }: Block): void {
    this.#sink.close();
    this.#sink.open(head);
    for (const piece of held.splice(0)) {
      this.#heldChars -= piece.length;
      this.#sink.add(piece);
    }
  }
}

function toHead({ id, name }: Extract<AnswerPart, { kind: 'tool-call' }>): BlockHead {
  return { kind: 'tool-use', id, name };
}
