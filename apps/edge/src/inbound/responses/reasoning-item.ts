import type { Fields } from '../http/problem.ts';
import type { ItemPlace, ItemStatus, OutputItem } from './output-item.ts';

/** What the model thinks. It is shown as it is and never summarised, so its summary is empty. */
export class ReasoningItem implements OutputItem {
  readonly #place: ItemPlace;
  #text = '';

  constructor(place: ItemPlace) {
    this.#place = place;
    const { emit, outputIndex, id } = place;
    const item = { id, type: 'reasoning', status: 'in_progress', summary: [], content: [] };
    emit('response.output_item.added', { output_index: outputIndex, item });
    this.#emit('response.content_part.added', { part: this.#part() });
  }

  think(delta: string): void {
    this.#text += delta;
    this.#emit('response.reasoning_text.delta', { delta });
  }

  toFields(status: ItemStatus): Fields {
    return { id: this.#place.id, type: 'reasoning', status, summary: [], content: [this.#part()] };
  }

  close(status: 'completed' | 'incomplete'): void {
    this.#emit('response.reasoning_text.done', { text: this.#text });
    this.#emit('response.content_part.done', { part: this.#part() });
    const { emit, outputIndex } = this.#place;
    emit('response.output_item.done', { output_index: outputIndex, item: this.toFields(status) });
  }

  #part(): Fields {
    return { type: 'reasoning_text', text: this.#text };
  }

  #emit(type: string, fields: Fields): void {
    const { id, outputIndex, emit } = this.#place;
    emit(type, { item_id: id, output_index: outputIndex, content_index: 0, ...fields });
  }
}
