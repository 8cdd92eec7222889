import type { EventSink, RuntimeEvent } from '@iop/runtime';
import { type EventTaker, SseCutter } from './sse-cutter.ts';
import { parseSseEvent } from './sse-event.ts';
import { maxEventBytes } from './stream-answer.ts';

/**
 * For a caller that gave a plain prompt: turns the raw chat events of the upstream into text,
 * reasoning and tool calls. Not on the hot path of any door.
 */
export class PromptSink implements EventSink, EventTaker {
  readonly #sink: EventSink;
  readonly #cutter = new SseCutter(this, maxEventBytes);
  #room = true;

  constructor(sink: EventSink) {
    this.#sink = sink;
  }

  emit(event: RuntimeEvent): boolean {
    if (event.kind !== 'raw') return this.#sink.emit(event);
    this.#room = true;
    this.#cutter.push(event.bytes);
    return this.#room;
  }

  whenDrained(callback: () => void): void {
    this.#sink.whenDrained(callback);
  }

  event(bytes: Uint8Array, start: number, end: number): void {
    const { data } = parseSseEvent(bytes.subarray(start, end));
    if (data === undefined) return;
    // The tap has seen that it is JSON.
    const chunk = JSON.parse(data) as { choices?: { delta?: Delta }[] };
    const delta = chunk.choices?.[0]?.delta;
    if (delta !== undefined) this.#delta(delta);
  }

  #delta(delta: Delta): void {
    const reasoning = delta.reasoning ?? delta.reasoning_content;
    if (reasoning) this.#pass({ kind: 'reasoning', text: reasoning });
    if (delta.content) this.#pass({ kind: 'text', text: delta.content });
    for (const call of delta.tool_calls ?? []) {
      this.#pass({
        kind: 'tool-call',
        index: call.index ?? 0,
        id: call.id ?? '',
        name: call.function?.name ?? '',
        argumentsJson: call.function?.arguments ?? '',
      });
    }
  }

  #pass(event: RuntimeEvent): void {
    this.#room = this.#sink.emit(event);
  }
}

interface Delta {
  content?: string | null;
  reasoning?: string | null;
  reasoning_content?: string | null;
  tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[];
}
