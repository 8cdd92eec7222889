import type { RuntimeEvent } from '@iop/runtime';
import {
  type AnswerHead,
  bodyEvents,
  type MockOutput,
  type MockUsage,
  rawEvents,
  usageOf,
} from './mock-output.ts';
import type { MockPiece } from './mock-pieces.ts';

const dialect = 'openai.completions';

/** A `text_completion` in pieces. Only text has a place in it. */
export class CompletionStreamOutput implements MockOutput {
  readonly #head: AnswerHead;

  constructor(head: AnswerHead) {
    this.#head = head;
  }

  begin(): RuntimeEvent[] {
    return [];
  }

  piece(piece: MockPiece): RuntimeEvent[] {
    return piece.kind === 'text' ? this.#each(piece.text, null) : [];
  }

  garbage(): RuntimeEvent[] {
    return rawEvents(dialect, 'data: {"id":"mock","choices":[{"text":"this is not \n\n');
  }

  end(finish: string, usage: MockUsage | undefined): RuntimeEvent[] {
    const events = this.#each('', finish);
    if (!this.#head.includeUsage || usage === undefined) return events;
    return [...events, ...this.#chunk({ choices: [], usage: usageOf(usage) })];
  }

  #each(text: string, finish: string | null): RuntimeEvent[] {
    const { choices: count, includeUsage } = this.#head;
    return Array.from({ length: count }, (_, index) => {
      const choices = [{ text, index, logprobs: null, finish_reason: finish }];
      return this.#chunk(includeUsage ? { choices, usage: null } : { choices });
    }).flat();
  }

  #chunk(fields: object): RuntimeEvent[] {
    const { id, created, model } = this.#head;
    const chunk = { id, object: 'text_completion', created, model, ...fields };
    return rawEvents(dialect, `data: ${JSON.stringify(chunk)}\n\n`);
  }
}

/** One `text_completion`, given when it is whole. */
export class CompletionJsonOutput implements MockOutput {
  readonly #head: AnswerHead;
  readonly #texts: string[] = [];
  #isBroken = false;

  constructor(head: AnswerHead) {
    this.#head = head;
  }

  begin(): RuntimeEvent[] {
    return [];
  }

  piece(piece: MockPiece): RuntimeEvent[] {
    if (piece.kind === 'text') this.#texts.push(piece.text);
    return [];
  }

  garbage(): RuntimeEvent[] {
    this.#isBroken = true;
    return [];
  }

  end(finish: string, usage: MockUsage | undefined): RuntimeEvent[] {
    const { id, created, model, choices: count } = this.#head;
    const choice = { text: this.#texts.join(''), logprobs: null, finish_reason: finish };
    const choices = Array.from({ length: count }, (_, index) => ({ ...choice, index }));
    const told = usage && { usage: usageOf(usage) };
    const text = JSON.stringify({ id, object: 'text_completion', created, model, choices, ...told });
    return bodyEvents(dialect, this.#isBroken ? text.slice(0, -20) : text);
  }
}
