import type { RunEnd } from '@iop/domain';
import type { LogEvent } from '../../ports/run-log.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Refusal } from '../http/refusal.ts';
import { endToRefusal } from '../http/to-http.ts';
import type { ResponseIdentity } from './response-object.ts';
import { unreadable } from './response-refusals.ts';
import { ResponseWriter } from './response-writer.ts';
import type { RunSource, Showing } from './showing.ts';

export interface WholeInit {
  exchange: Exchange;
  source: RunSource;
  identity: ResponseIdentity;
  fields: readonly string[];
}

/** A response as one body, when its run has ended. A run that failed has a status and no body of this kind. */
export class WholeResponse implements Showing {
  readonly #init: WholeInit;
  readonly #writer: ResponseWriter;

  constructor(init: WholeInit) {
    this.#init = init;
    this.#writer = new ResponseWriter(init.identity);
    this.#writer.begin();
  }

  take(events: readonly LogEvent[], sizeBytes: number): void {
    for (const event of events) this.#writer.take(event);
    this.#init.source.consumed(sizeBytes);
    const { brokenBy } = this.#writer;
    if (brokenBy === undefined) return;
    this.#init.source.leave();
    this.broken(unreadable(brokenBy));
  }

  end(end: RunEnd, endedAtMs: number): void {
    const { exchange, fields } = this.#init;
    if (end.kind !== 'completed') {
      exchange.refuse(endToRefusal(end, { hadContent: this.#writer.hasContent }));
      return;
    }
    this.#writer.finish(end, Math.floor(endedAtMs / 1000));
    const { brokenBy } = this.#writer;
    if (brokenBy === undefined) exchange.json(200, this.#writer.toResponse(), fields);
    else this.broken(unreadable(brokenBy));
  }

  broken(refusal: Refusal): void {
    this.#init.exchange.refuse(refusal);
  }
}
