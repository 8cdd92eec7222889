import type { Fields } from '../http/problem.ts';

/** Gives an event of the stream its number and sends it. */
export type Emit = (type: string, fields: Fields) => void;

/** Where in a response an item lies. */
export interface ItemPlace {
  id: string;
  outputIndex: number;
  emit: Emit;
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/**
 * One entry of a response's output while it grows. Between `open` and `close` its events say every change of it; what
 * `toFields` gives is what somebody who has read them knows.
 */
export interface OutputItem {
  toFields(status: ItemStatus): Fields;
  /** Nothing more comes for it: says so for each of its parts. */
  close(status: 'completed' | 'incomplete'): void;
}
