import { ChoiceAssembly, type Fields, isFields } from './choice-assembly.ts';

const wholeObjects: Readonly<Record<string, string>> = { 'chat.completion.chunk': 'chat.completion' };

/** A whole answer, put together from the chunks of a stream (chat or completions). */
export class AnswerAssembly {
  readonly #head: Fields = {};
  readonly #choices = new Map<number, ChoiceAssembly>();
  #usage: unknown;

  add({ choices, usage, object, ...head }: Fields): void {
    for (const [key, value] of Object.entries(head)) this.#head[key] ??= value;
    if (typeof object === 'string') this.#head.object ??= wholeObjects[object] ?? object;
    if (isFields(usage)) this.#usage = usage;
    if (!Array.isArray(choices)) return;
    for (const choice of choices) if (isFields(choice)) this.#choiceOf(choice).add(choice);
  }

  whole(): Fields {
    const { id, object, created, model, ...rest } = this.#head;
    const choices = [...this.#choices].sort(([a], [b]) => a - b).map(([, choice]) => choice.whole());
    const usage = this.#usage === undefined ? {} : { usage: this.#usage };
    return { id, object, created, model, choices, ...usage, ...rest };
  }

  #choiceOf({ index }: Fields): ChoiceAssembly {
    const place = typeof index === 'number' ? index : 0;
    const choice = this.#choices.get(place) ?? new ChoiceAssembly(place);
    this.#choices.set(place, choice);
    return choice;
  }
}
