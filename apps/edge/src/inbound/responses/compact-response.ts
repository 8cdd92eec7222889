import type { RunEnd } from '@iop/domain';
import type { LogEvent } from '../../ports/run-log.ts';
import { parseJsonBody } from '../http/json-body.ts';
import { type Fields, toRefusal } from '../http/problem.ts';
import type { Refusal } from '../http/refusal.ts';
import { endToRefusal, startToRefusal } from '../http/to-http.ts';
import { AttachedSource } from './attached-source.ts';
import { toChatBody } from './chat-body.ts';
import { compactionPrompt, toCompacted } from './compaction-text.ts';
import { gatherHistory } from './history.ts';
import { identityOf } from './kept-response.ts';
import { namedItems } from './named-items.ts';
import { readAsk } from './response-ask.ts';
import { findProblem } from './response-checks.ts';
import { outputItemId } from './response-ids.ts';
import type { ResponseIdentity } from './response-object.ts';
import { storeRefused, unreadable } from './response-refusals.ts';
import { ResponseWriter } from './response-writer.ts';
import type { Called } from './responses-port.ts';
import type { RunSource, Showing } from './showing.ts';

/**
 * `POST /v1/responses/compact`: the model summarises the conversation. What its user said stays as it is, and the
 * summary stands for everything else.
 */
export async function compactResponse(called: Called, bytes: Uint8Array): Promise<void> {
  const asked = await readConversation(called, bytes);
  if ('refusal' in asked) called.exchange.refuse(asked.refusal);
  else if (!called.exchange.isOver) summarise(called, asked);
}

interface Conversation {
  /** Without tools and limits: what was asked for is the conversation, not this. */
  fields: Fields;
  history: readonly Fields[];
}

async function readConversation(
  called: Called,
  bytes: Uint8Array,
): Promise<Conversation | { refusal: Refusal }> {
  const body = parseJsonBody(bytes);
  if (body.kind === 'refused') return body;
  const problem = findProblem(body.fields);
  if (problem !== undefined) return { refusal: toRefusal(problem) };
  const ask = readAsk(body.fields);
  if (ask.previousId !== undefined && !called.edge.mayStore())
    return { refusal: storeRefused('previous_response_id') };
  const gathered = await gatherHistory(called, ask);
  if (gathered.kind === 'refused') return gathered;
  const { model, instructions, prompt_cache_key } = body.fields;
  const fields = { model, instructions, prompt_cache_key, input: gathered.items };
  return { fields, history: gathered.history };
}

function summarise({ exchange, edge, keyId, port }: Called, { fields, history }: Conversation): void {
  const ask = readAsk(fields);
  const wish = { type: 'message', role: 'user', content: compactionPrompt };
  const chat = toChatBody({ ...ask, items: [...ask.items, wish] }, history);
  if (chat.kind === 'problem') {
    exchange.refuse(toRefusal(chat.problem));
    return;
  }
  const source = new AttachedSource(exchange, port.clock);
  const outcome = edge.start(
    {
      door: 'openai',
      keyId,
      select: { kind: 'model', model: ask.model },
      dialect: 'openai.chat',
      body: Buffer.from(JSON.stringify(chat.fields)),
      stream: true,
      includeUsage: true,
    },
    source,
  );
  if (outcome.kind !== 'accepted') {
    source.discard();
    exchange.refuse(startToRefusal(outcome));
    return;
  }
  const identity = identityOf(outcome.run.id, fields, false);
  source.attach(outcome.run, (source) => new Compaction({ exchange, source, identity, history }));
}

interface CompactionInit {
  exchange: Called['exchange'];
  source: RunSource;
  identity: ResponseIdentity;
  history: readonly Fields[];
}

class Compaction implements Showing {
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
