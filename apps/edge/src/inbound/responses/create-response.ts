import { createHash } from 'node:crypto';
import type { RunIntent } from '../../core/door.ts';
import { parseJsonBody } from '../http/json-body.ts';
import { type Fields, toRefusal } from '../http/problem.ts';
import type { Refusal } from '../http/refusal.ts';
import { readWishes, type Wishes } from '../http/run-wishes.ts';
import { createToRefusal, startToRefusal } from '../http/to-http.ts';
import { AttachedSource } from './attached-source.ts';
import { toChatBody } from './chat-body.ts';
import { CursorSource } from './cursor-source.ts';
import { gatherHistory, isReference } from './history.ts';
import { findKept, identityOf } from './kept-response.ts';
import { type ResponseAsk, readAsk } from './response-ask.ts';
import { findProblem } from './response-checks.ts';
import { notKept, storeRefused } from './response-refusals.ts';
import { answerLater, type Called } from './responses-port.ts';
import { showFor, showQueued } from './show-response.ts';
import { patienceMs, showSnapshot } from './snapshot.ts';

/** A request in which nothing is wrong, on its way to a run. */
interface Request {
  kind: 'request';
  called: Called;
  ask: ResponseAsk;
  /** The caller's bytes. */
  bytes: Uint8Array;
  isStored: boolean;
  isDetached: boolean;
  idempotencyKey: string | undefined;
}

/** `POST /v1/responses`, its body read. */
export function createResponse(called: Called, bytes: Uint8Array): void {
  const read = readRequest(called, bytes);
  if (read.kind === 'refused') called.exchange.refuse(read.refusal);
  else if (needsHistory(read.ask)) answerLater(called, () => launchAfter(read));
  else launch(read, read.ask.items, []);
}

function readRequest(called: Called, bytes: Uint8Array): Request | { kind: 'refused'; refusal: Refusal } {
  const body = parseJsonBody(bytes);
  if (body.kind === 'refused') return body;
  const problem = findProblem(body.fields);
  if (problem !== undefined) return { kind: 'refused', refusal: toRefusal(problem) };
  const ask = readAsk(body.fields);
  const refusal = refuseKeeping(called, ask);
  if (refusal !== undefined) return { kind: 'refused', refusal };
  const wishes = readWishes(called.exchange.req, called.edge);
  if (wishes.kind === 'refused') return wishes;
  if (wishes.runClass === 'detached' && ask.store === false) return { kind: 'refused', refusal: notKept() };
  return toRequest({ called, ask, bytes, wishes });
}

/** Nothing is kept where the operator wants nothing kept; what cannot do without is refused by name. */
function refuseKeeping(
  { edge }: Called,
  { store, background, previousId }: ResponseAsk,
): Refusal | undefined {
  if (edge.mayStore()) return undefined;
  if (background) return storeRefused('background');
  if (previousId !== undefined) return storeRefused('previous_response_id');
  return store === true ? storeRefused('store') : undefined;
}

function toRequest({
  called,
  ask,
  bytes,
  wishes,
}: Pick<Request, 'called' | 'ask' | 'bytes'> & { wishes: Wishes }): Request {
  return {
    kind: 'request',
    called,
    ask,
    bytes,
    isStored: ask.store !== false && called.edge.mayStore(),
    isDetached: ask.background || wishes.runClass === 'detached',
    idempotencyKey: wishes.idempotencyKey,
  };
}

function needsHistory({ previousId, items }: ResponseAsk): boolean {
  return previousId !== undefined || items.some(isReference);
}

async function launchAfter(request: Request): Promise<void> {
  const { called, ask } = request;
  const gathered = await gatherHistory(called, ask);
  if (called.exchange.isOver) return;
  if (gathered.kind === 'refused') called.exchange.refuse(gathered.refusal);
  else launch(request, gathered.items, gathered.history);
}

function launch(request: Request, items: readonly Fields[], history: readonly Fields[]): void {
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

function toIntent({ called, ask, bytes, isStored }: Request, body: Uint8Array): RunIntent {
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
function start({ called, ask, isStored }: Request, intent: RunIntent): void {
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
async function createFirst(request: Request, intent: RunIntent): Promise<void> {
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
