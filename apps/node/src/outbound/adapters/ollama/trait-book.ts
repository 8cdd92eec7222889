import type { Reply } from '../http-upstream/ask-upstream.ts';
import { type ModelCard, type ModelTraits, parseShow } from './model-cards.ts';

/** Asks `/api/show` about one model; rejects when no answer comes. */
export type ShowModel = (model: string, signal: AbortSignal) => Promise<Reply>;

/** What is known of the models, by digest: each is asked about once, one that is pulled anew again. */
export class TraitBook {
  readonly #show: ShowModel;
  #traits = new Map<string, ModelTraits>();

  constructor(show: ShowModel) {
    this.#show = show;
  }

  of(digest: string): ModelTraits | undefined {
    return this.#traits.get(digest);
  }

  /** Learns of these and forgets all others. Never rejects: for whom there is no time now is asked about next time. */
  async learn(cards: readonly ModelCard[], signal: AbortSignal): Promise<void> {
    const traits = new Map<string, ModelTraits>();
    for (const { digest } of cards) {
      const known = this.#traits.get(digest);
      if (known !== undefined) traits.set(digest, known);
    }
    this.#traits = traits;
    try {
      for (const { name, digest } of cards) {
        if (traits.has(digest)) continue;
        const { status, json } = await this.#show(name, signal);
        if (status === 200) traits.set(digest, parseShow(json));
      }
    } catch {
      // The list of models is what counts.
    }
  }
}
