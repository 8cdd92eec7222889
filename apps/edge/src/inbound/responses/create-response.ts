import { createHash } from 'node:crypto';
import type { RunIntent } from '../../core/door.ts';
import { type Fields, toRefusal } from '../http/problem.ts';
import { createToRefusal, startToRefusal } from '../http/to-http.ts';
import { AttachedSource } from './attached-source.ts';
import { toChatBody } from './chat-body.ts';
import { CursorSource } from './cursor-source.ts';
import { gatherHistory, isReference } from './history.ts';
import { findKept, identityOf } from './kept-response.ts';
import { type CreateRequest, type RequestBody, readRequest } from './read-request.ts';
import type { ResponseAsk } from './response-ask.ts';
import { answerLater, type Called } from './responses-port.ts';
import { showFor, showQueued } from './show-response.ts';
import { patienceMs, showSnapshot } from './snapshot.ts';

/** `POST /v1/responses`, its body read. */
export function createResponse(called: Called, body: RequestBody): void {
  const read = readRequest(called, body);
  if (read.kind === 'refused') called.exchange.refuse(read.refusal);
  else if (needsHistory(read.ask)) answerLater(called, () => launchAfter(read));
  else launch(read, read.ask.items, []);
}

function needsHistory({ previousId, items }: ResponseAsk): boolean {
  return previousId !== undefined || items.some(isReference);
}

async function launchAfter(request: CreateRequest): Promise<void> {
  const { called, ask } = request;
  const gathered = await gatherHistory(called, ask);
  if (called.exchange.isOver) return;
  if (gathered.kind === 'refused') called.exchange.refuse(gathered.refusal);
  else launch(request, gathered.items, gathered.history);
}

function launch(request: CreateRequest, items: readonly Fields[], history: readonly Fields[]): void {
  const { called, ask, isDetached, idempotencyKey } = request;
  const chat = toChatBody({ ...ask, items }, history);
  if (chat.kind === 'problem') {
    called.exchange.refuse(toRefusal(chat.problem));
    return;
  }
  const intent = toIntent(request, Buffer.from(JSON.stringify(chat.fields)));
  if (isDetached || idempotencyKey !== undefined) answerLater(called, () => createFirst(request, intent));
  else start(request, intent);
}

function toIntent({ called, ask, bytes, isStored }: CreateRequest, body: Uint8Array): RunIntent {
  return {
    door: 'openai',
    keyId: called.keyId,
    select: { kind: 'model', model: ask.model },
    dialect: 'openai.chat',
    body,
    stream: true,
    includeUsage: true,
    stored: isStored,
    asked: bytes,
  };
}

/** It lives while its caller is there, and nothing has to be on the disk before it runs. */
function start({ called, ask, isStored }: CreateRequest, intent: RunIntent): void {
  const { exchange, edge, port } = called;
  const source = new AttachedSource(exchange, port.clock);
  const outcome = edge.start(intent, source);
  if (outcome.kind !== 'accepted') {
    source.discard();
    exchange.refuse(startToRefusal(outcome));
    return;
  }
  const identity = identityOf(outcome.run.id, ask.fields, isStored);
  source.attach(outcome.run, (source) => showFor({ called, identity, source }));
}

/** It is on the disk before it runs: it outlives its caller, or can be asked for twice. */
async function createFirst(request: CreateRequest, intent: RunIntent): Promise<void> {
  const { called, ask, bytes, isStored, isDetached, idempotencyKey: key } = request;
  const outcome = await called.edge.create({
    ...intent,
    runClass: isDetached ? 'detached' : 'attached',
    ...(key !== undefined && { idempotency: { key, bodyHash: hashOf(bytes) } }),
  });
  if (outcome.kind !== 'created' && outcome.kind !== 'repeated')
    return called.exchange.refuse(createToRefusal(outcome));
  const identity = identityOf(outcome.runId, ask.fields, isStored);
  if (ask.background && !ask.stream) {
    const kept =
      outcome.kind === 'repeated'
        ? await findKept(called.edge, { id: identity.id, keyId: called.keyId })
        : undefined;
    if (kept === undefined) showQueued(called, identity);
    else await showSnapshot(called, kept, { until: 'now', waitMs: patienceMs });
    return;
  }
  const source = new CursorSource({ called, runId: outcome.runId, owns: !isDetached });
  await source.open((source) => showFor({ called, identity, source }));
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
