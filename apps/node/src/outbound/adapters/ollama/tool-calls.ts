import type { RuntimeEvent } from '@iop/runtime';
import { isFields } from './problem-list.ts';
import { textPieces } from './text-pieces.ts';

/**
 * Numbers the tool calls of one answer (O4) and writes their arguments as callers want them (O5).
 * Ollama gives each call whole, in one line.
 */
export class ToolCalls {
  readonly #runId: string;
  readonly #ids = new Set<string>();

  constructor(runId: string) {
    this.#runId = runId;
  }

  get count(): number {
    return this.#ids.size;
  }

  /** The events of one call, its arguments in pieces; undefined: it names no function. */
  toEvents(call: unknown): RuntimeEvent[] | undefined {
    const called = isFields(call) ? call.function : undefined;
    if (!isFields(call) || !isFields(called)) return undefined;
    const { name } = called;
    if (typeof name !== 'string' || name === '') return undefined;
    const index = this.#ids.size;
    const id = this.#idOf(call.id, index);
    this.#ids.add(id);
    const pieces = textPieces(toJson(called.arguments));
    return pieces.map((argumentsJson) => ({ kind: 'tool-call', index, id, name, argumentsJson }));
  }

  #idOf(given: unknown, index: number): string {
    if (typeof given === 'string' && given !== '' && !this.#ids.has(given)) return given;
    return `call_${this.#runId.replace(/^run_/, '')}_${index}`;
  }
}

function toJson(given: unknown): string {
  if (given === undefined || given === null || given === '') return '{}';
  return typeof given === 'string' ? given : JSON.stringify(given);
}
