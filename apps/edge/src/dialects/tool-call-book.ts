import type { AnswerPart } from './answer-part.ts';

/** What a chunk says of a call. */
export interface CallPiece {
  /** The upstream's; undefined where it gives none. */
  index: number | undefined;
  id: string;
  name: string;
  json: string;
}

interface OpenCall {
  /** Ours. */
  index: number;
  given: number | undefined;
  id: string;
  /** Its name came, and with it its first part went out. */
  isNamed: boolean;
  held: string;
}

/**
 * Tells the calls of an answer apart. Upstreams number them, or give all of them the index 0, or none; they repeat id
 * and name in every piece, or give them once, or give no id at all.
 */
export class ToolCallBook {
  readonly #calls: OpenCall[] = [];

  add({ index, id, name, json }: CallPiece): AnswerPart[] {
    const call = this.#find(index, id, name) ?? this.#open(index, id);
    if (call.id === '') call.id = id;
    if (call.isNamed) return argumentsOf(call, json);
    call.held += json;
    return name === '' ? [] : this.#name(call, name);
  }

  /** Calls that never got a name are shown all the same. */
  finish(): AnswerPart[] {
    return this.#calls.filter((call) => !call.isNamed).flatMap((call) => this.#name(call, ''));
  }

  #find(index: number | undefined, id: string, name: string): OpenCall | undefined {
    const last = this.#calls.at(-1);
    if (index === undefined) {
      if (id !== '') return this.#calls.find((call) => call.id === id);
      return name !== '' && last?.isNamed ? undefined : last;
    }
    const call = this.#calls.findLast(({ given }) => given === index);
    const isOther = call !== undefined && id !== '' && call.id !== '' && call.id !== id;
    return isOther ? this.#calls.find((each) => each.given === index && each.id === id) : call;
  }

  #open(given: number | undefined, id: string): OpenCall {
    const call: OpenCall = { index: this.#calls.length, given, id, isNamed: false, held: '' };
    this.#calls.push(call);
    return call;
  }

  #name(call: OpenCall, name: string): AnswerPart[] {
    const { index, id, held } = call;
    call.isNamed = true;
    call.held = '';
    return [{ kind: 'tool-call', index, id, name }, ...argumentsOf(call, held)];
  }
}

function argumentsOf({ index }: OpenCall, json: string): AnswerPart[] {
  return json === '' ? [] : [{ kind: 'tool-arguments', index, json }];
}
