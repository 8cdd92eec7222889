import { type Fields, isObject } from '../http/problem.ts';
import type { ItemPlace, ItemStatus, OutputItem } from './output-item.ts';

type Part = { kind: 'text'; text: string; logprobs: Fields[] } | { kind: 'refusal'; text: string };

/** What the model says: texts and refusals. */
export class MessageItem implements OutputItem {
  readonly #place: ItemPlace;
  readonly #parts: Part[] = [];
  #isPartOpen = false;

  constructor(place: ItemPlace) {
    this.#place = place;
    place.emit('response.output_item.added', {
      output_index: place.outputIndex,
      item: this.toFields('in_progress'),
    });
  }

  text(delta: string, given: readonly unknown[]): void {
    const part = this.#partOf('text');
    if (part.kind !== 'text') return;
    part.text += delta;
    const logprobs = given.flatMap(toLogprob);
    part.logprobs.push(...logprobs);
    this.#emit('response.output_text.delta', { delta, logprobs });
  }

  refusal(delta: string): void {
    this.#partOf('refusal').text += delta;
    this.#emit('response.refusal.delta', { delta });
  }

  toFields(status: ItemStatus): Fields {
    const content = this.#parts.map(toContent);
    return { id: this.#place.id, type: 'message', status, role: 'assistant', content };
  }

  close(status: 'completed' | 'incomplete'): void {
    // a message without a word still has a place for words
    if (this.#parts.length === 0) this.#partOf('text');
    this.#closePart();
    const { emit, outputIndex } = this.#place;
    emit('response.output_item.done', { output_index: outputIndex, item: this.toFields(status) });
  }

  #partOf(kind: Part['kind']): Part {
    const last = this.#parts.at(-1);
    if (this.#isPartOpen && last?.kind === kind) return last;
    this.#closePart();
    const part: Part = kind === 'text' ? { kind, text: '', logprobs: [] } : { kind, text: '' };
    this.#parts.push(part);
    this.#isPartOpen = true;
    this.#emit('response.content_part.added', { part: toContent(part) });
    return part;
  }

  #closePart(): void {
    const part = this.#parts.at(-1);
    if (part === undefined || !this.#isPartOpen) return;
    if (part.kind === 'refusal') this.#emit('response.refusal.done', { refusal: part.text });
    else this.#emit('response.output_text.done', { text: part.text, logprobs: part.logprobs });
    this.#emit('response.content_part.done', { part: toContent(part) });
    this.#isPartOpen = false;
  }

  #emit(type: string, fields: Fields): void {
    const { id, outputIndex, emit } = this.#place;
    emit(type, { item_id: id, output_index: outputIndex, content_index: this.#parts.length - 1, ...fields });
  }
}

function toContent(part: Part): Fields {
  if (part.kind === 'refusal') return { type: 'refusal', refusal: part.text };
  return { type: 'output_text', text: part.text, annotations: [], logprobs: part.logprobs };
}

/** Upstreams leave out what they have not got; the published shape has it all. */
function toLogprob(given: unknown): Fields[] {
  if (!isObject(given) || typeof given.token !== 'string' || typeof given.logprob !== 'number') return [];
  const { top_logprobs: top } = given;
  const tops = Array.isArray(top) ? top.filter(isObject).map(toTokenLogprob) : [];
  return [{ ...toTokenLogprob(given), top_logprobs: tops }];
}

function toTokenLogprob({ token, logprob, bytes }: Fields): Fields {
  const text = typeof token === 'string' ? token : '';
  const isGiven = Array.isArray(bytes) && bytes.every(Number.isInteger);
  return { token: text, logprob: Number(logprob), bytes: isGiven ? bytes : [...Buffer.from(text)] };
}
