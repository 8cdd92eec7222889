import type { Link } from '@iop/link';
import {
  create,
  type Failure,
  type OperatorResponse,
  OperatorResponseSchema,
  OperatorStopSchema,
  type OperatorUpdate,
  OperatorUpdateSchema,
} from '@iop/wire';

/** What goes out to one operator. */
export interface OperatorOutlet {
  answer(id: number, response: OperatorResponse['response']): void;
  update(id: number, update: OperatorUpdate['update']): void;
  /** Nothing more comes for this request; with a failure: although there is more. */
  stop(id: number, failure?: Failure): void;
  /** Calls when what was sent has left for the socket; before returning if little waits. */
  whenDrained(callback: () => void): void;
  /** From `LinkHandlers.onDrain`. */
  drained(): void;
}

/** Up to here the link does not tell when it has drained. */
const fewBytes = 64 * 1024;

export function createOperatorOutlet(link: Link): OperatorOutlet {
  let waiting: (() => void)[] = [];
  return {
    answer: (id, response) =>
      link.send({ case: 'operatorResponse', value: create(OperatorResponseSchema, { id, response }) }),
    update: (id, update) =>
      link.send({ case: 'operatorUpdate', value: create(OperatorUpdateSchema, { id, update }) }),
    stop(id, failure) {
      const value = create(OperatorStopSchema, failure === undefined ? { id } : { id, failure });
      link.send({ case: 'operatorStop', value });
    },
    whenDrained(callback) {
      if (link.unsentBytes <= fewBytes) callback();
      else waiting.push(callback);
    },
    drained() {
      const due = waiting;
      waiting = [];
      for (const callback of due) callback();
    },
  };
}
