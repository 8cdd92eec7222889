import { parseJsonBody } from '../http/json-body.ts';
import { type Fields, toRefusal } from '../http/problem.ts';
import type { Refusal } from '../http/refusal.ts';
import { startToRefusal } from '../http/to-http.ts';
import { AttachedSource } from './attached-source.ts';
import { toChatBody } from './chat-body.ts';
import { Compaction } from './compaction.ts';
import { compactionPrompt } from './compaction-text.ts';
import { gatherHistory } from './history.ts';
import { identityOf } from './kept-response.ts';
import { readAsk } from './response-ask.ts';
import { findProblem } from './response-checks.ts';
import { storeRefused } from './response-refusals.ts';
import type { Called } from './responses-port.ts';

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
