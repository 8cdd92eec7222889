/** What a JSON object of the upstream may be. */
export type Fields = Record<string, unknown>;

/** Keys that every delta may repeat, and that do not add up. */
const saidOnce: ReadonlySet<string> = new Set(['role', 'name', 'id', 'type']);

/**
 * One choice of a streamed answer, put together from its chunks: texts and lists add up, calls of tools
 * by their `index`, of everything else the last word counts.
 */
export class ChoiceAssembly {
  readonly #index: number;
  readonly #rest: Fields = {};
  readonly #message: Fields = {};
  readonly #calls = new Map<number, Fields>();
  #hasMessage = false;

  constructor(index: number) {
    this.#index = index;
  }

  add({ index: _, delta, ...rest }: Fields): void {
    for (const [key, value] of Object.entries(rest)) addField(this.#rest, key, value);
    if (!isFields(delta)) return;
    this.#hasMessage = true;
    const { tool_calls: calls, ...message } = delta;
    for (const [key, value] of Object.entries(message)) addField(this.#message, key, value);
    if (Array.isArray(calls)) for (const call of calls) if (isFields(call)) this.#addCall(call);
  }

  /** As it would stand in a whole answer. */
  whole(): Fields {
    const { finish_reason: finish = null, logprobs = null, text, ...rest } = this.#rest;
    const { role = 'assistant', content = null, ...message } = this.#message;
    const calls = [...this.#calls.entries()].sort(([a], [b]) => a - b).map(([, call]) => call);
    const said = { role, content, ...message, ...(calls.length > 0 && { tool_calls: calls }) };
    return {
      index: this.#index,
      ...(text === undefined ? { message: said } : { text }),
      ...(text !== undefined && this.#hasMessage && { message: said }),
      logprobs,
      finish_reason: finish,
      ...rest,
    };
  }

  #addCall({ index, function: called, ...rest }: Fields): void {
    const place = typeof index === 'number' ? index : this.#placeOf(rest.id);
    const call = this.#calls.get(place) ?? {
      id: '',
      type: 'function',
      function: { name: '', arguments: '' },
    };
    this.#calls.set(place, call);
    for (const [key, value] of Object.entries(rest)) if (value) call[key] = value;
    if (!isFields(called)) return;
    for (const [key, value] of Object.entries(called)) {
      if (value) addField(call.function as Fields, key, value);
    }
  }

  /** Without an index: a new id begins a call, none goes on with the last one. */
  #placeOf(id: unknown): number {
    const known = [...this.#calls].find(([, call]) => call.id === id);
    if (known !== undefined) return known[0];
    return id ? this.#calls.size : Math.max(0, this.#calls.size - 1);
  }
}

function addField(to: Fields, key: string, value: unknown): void {
  // It would reach beyond this answer.
  if (key === '__proto__') return;
  const before = to[key];
  if (before === undefined || before === null || before === '') to[key] = value;
  else if (value === null || value === undefined || saidOnce.has(key)) return;
  else if (typeof before === 'string' && typeof value === 'string') to[key] = joined(key, before, value);
  else if (Array.isArray(before) && Array.isArray(value)) before.push(...value);
  else if (isFields(before) && isFields(value)) {
    for (const [inner, innerValue] of Object.entries(value)) addField(before, inner, innerValue);
  } else to[key] = value;
}

function joined(key: string, before: string, value: string): string {
  return key === 'finish_reason' || key === 'stop_reason' ? value : before + value;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
