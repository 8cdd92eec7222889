import type { RunFailure, Usage } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';

/** What was read in one chunk of stdout. */
export interface OutputStep {
  events: RuntimeEvent[];
  /** answered: nothing counts any more. failed: what was read before still does. */
  verdict: 'more' | 'answered' | { failure: RunFailure };
}

/** Reads the output of one run. */
export interface ChildOutput {
  push(chunk: Uint8Array): OutputStep;
  /** The output has ended. */
  finish(): OutputStep;
  /** Tokens as the program counted them; undefined: it did not say. */
  readonly usage?: Usage | undefined;
}

/** A text as events that fit into frames; a character is never divided. */
export function textEvents(text: string): RuntimeEvent[] {
  const events: RuntimeEvent[] = [];
  let start = 0;
  while (start < text.length) {
    let end = Math.min(start + maxEventUnits, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    events.push({ kind: 'text', text: text.slice(start, end) });
    start = end;
  }
  return events;
}

/** At most 48 KiB of UTF-8. */
const maxEventUnits = 16 * 1024;

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
