import type { RunEnd } from '@iop/domain';
import type { LogEvent } from '../../ports/run-log.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Fields } from '../http/problem.ts';
import type { Refusal } from '../http/refusal.ts';
import { endToRefusal } from '../http/to-http.ts';
import { toCompacted } from './compaction-text.ts';
import { namedItems } from './named-items.ts';
import { outputItemId } from './response-ids.ts';
import type { ResponseIdentity } from './response-object.ts';
import { unreadable } from './response-refusals.ts';
import { ResponseWriter } from './response-writer.ts';
import type { RunSource, Showing } from './showing.ts';

export interface CompactionInit {
  exchange: Exchange;
  source: RunSource;
  identity: ResponseIdentity;
  history: readonly Fields[];
}

/** The answer to a wish for a summary: what its user said, and the summary for everything else. */
export class Compaction implements Showing {
  readonly #init: CompactionInit;
  readonly #writer: ResponseWriter;

  constructor(init: CompactionInit) {
    this.#init = init;
    this.#writer = new ResponseWriter(init.identity);
  }

  take(events: readonly LogEvent[], sizeBytes: number): void {
    for (const event of events) this.#writer.take(event);
    this.#init.source.consumed(sizeBytes);
  }

  end(end: RunEnd): void {
    const { exchange } = this.#init;
    this.#writer.finish(end, 0);
    const { brokenBy } = this.#writer;
    const response = this.#writer.toResponse();
    if (end.kind !== 'completed') exchange.refuse(endToRefusal(end, { hadContent: this.#writer.hasContent }));
    else if (brokenBy !== undefined) exchange.refuse(unreadable(brokenBy));
    else if (response.status !== 'completed') exchange.refuse(unreadable(cutSummary));
    else exchange.json(200, this.#toResource(response));
  }

  broken(refusal: Refusal): void {
    this.#init.exchange.refuse(refusal);
  }

  #toResource({ id, created_at, usage, output }: Fields): Fields {
    const { identity, history } = this.#init;
    const said = [...history, ...namedItems(identity)].filter(({ role }) => role === 'user');
    const compaction = {
      id: outputItemId('cmp', identity.id, said.length),
      type: 'compaction',
      encrypted_content: toCompacted(wordsOf(output as readonly Fields[])),
    };
    return {
      id,
      object: 'response.compaction',
      created_at,
      output: [...said, compaction],
      usage: usage ?? noUsage,
    };
  }
}

function wordsOf(output: readonly Fields[]): string {
  const parts = output.flatMap(({ type, content }) => (type === 'message' ? (content as Fields[]) : []));
  return parts.map(({ text, refusal }) => String(text ?? refusal)).join('\n');
}

const noUsage: Fields = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
};

const cutSummary = {
  code: 'compaction.incomplete',
  message: 'The model did not bring its summary to an end.',
};
