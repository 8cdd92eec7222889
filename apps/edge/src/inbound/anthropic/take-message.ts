import { createHash } from 'node:crypto';
import type { EdgeDoor, RunCreation, RunIntent } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import type { Refusal } from '../http/refusal.ts';
import { startToRefusal } from '../http/to-http.ts';
import { parseMessagesRequest, type TranslatedRequest } from './chat-request.ts';
import { creationToRefusal, openToRefusal } from './creation-refusals.ts';
import { cursorAsRun, LoggedRun } from './logged-run.ts';
import { MessageStream } from './message-stream.ts';
import { MessageWhole } from './message-whole.ts';
import { findProblem } from './request-checks.ts';
import { type RequestHead, type TakenBody, takeBody } from './take-body.ts';
import { estimateUsage } from './token-estimate.ts';

export type MessageEdge = Pick<EdgeDoor, 'start' | 'create' | 'open'>;

/** `POST /v1/messages`, from its head to a run with an owner. */
export function takeMessage(port: HttpPort, edge: MessageEdge, exchange: Exchange): void {
  takeBody(port, exchange, (body) => {
    const parsed = parseMessagesRequest(body.bytes, findProblem);
    if (parsed.kind === 'refused') exchange.refuse(parsed.refusal);
    else begin({ port, edge, exchange, request: parsed.request, body });
  });
}

interface Asked {
  port: HttpPort;
  edge: MessageEdge;
  exchange: Exchange;
  request: TranslatedRequest;
  body: TakenBody;
}

function begin(asked: Asked): void {
  const { head } = asked.body;
  if (head.continues || head.idempotencyKey !== undefined) void createRun(asked, head);
  else startRun(asked);
}

/** The hot path: nothing of it waits for a disk. */
function startRun(asked: Asked): void {
  const { edge, exchange } = asked;
  const answer = answerOf(asked);
  const outcome = edge.start(toIntent(asked), answer);
  if (outcome.kind === 'accepted') {
    answer.owner.attach(outcome.run);
    return;
  }
  answer.discard();
  exchange.refuse(startToRefusal(outcome));
}

async function createRun(asked: Asked, head: RequestHead): Promise<void> {
  const { port, exchange } = asked;
  const answer = answerOf(asked);
  const refusal = await openRun(asked, head, answer).catch((reason: unknown) => {
    port.log.error(
      { ...exchange.labels(), reason: String(reason) },
      'a run could not be created because of a bug',
    );
    return bug;
  });
  if (refusal === undefined) return;
  answer.discard();
  exchange.refuse(refusal);
}

/** @returns why there is nothing to answer; undefined: the answer has begun */
async function openRun(
  asked: Asked,
  head: RequestHead,
  answer: MessageStream | MessageWhole,
): Promise<Refusal | undefined> {
  const { edge, body } = asked;
  const created = await edge.create(toCreation(asked, head));
  if (created.kind !== 'created' && created.kind !== 'repeated') return creationToRefusal(created);
  const { runId } = created;
  const logged = new LoggedRun(answer);
  const opened = await edge.open({ runId, afterPos: 0, owns: true, keyId: body.keyId }, logged);
  if (opened.kind !== 'opened') return openToRefusal(opened);
  // whoever has left by now leaves the run by that, too
  answer.owner.attach(cursorAsRun(opened.cursor));
  logged.begin();
  return undefined;
}

function toIntent({ request, body }: Asked): RunIntent {
  return {
    door: 'anthropic',
    keyId: body.keyId,
    select: { kind: 'model', model: request.model },
    dialect: 'openai.chat',
    body: Buffer.from(JSON.stringify(request.chat)),
    stream: true,
    includeUsage: true,
  };
}

function toCreation(asked: Asked, { continues, idempotencyKey: key }: RequestHead): RunCreation {
  const { bytes } = asked.body;
  const bodyHash = createHash('sha256').update(bytes).digest('hex');
  return {
    ...toIntent(asked),
    asked: bytes,
    runClass: continues ? 'detached' : 'attached',
    ...(key !== undefined && { idempotency: { key, bodyHash } }),
  };
}

function answerOf({ port, exchange, request }: Asked): MessageStream | MessageWhole {
  const { clock, times, log } = port;
  const firstUsage = () => estimateUsage(request.chat);
  const init = { exchange, clock, times, log, request, firstUsage };
  return request.stream ? new MessageStream(init) : new MessageWhole(init);
}

const bug: Refusal = {
  status: 500,
  message: 'The Edge has a fault; its log says more under this request id.',
  type: 'server_error',
  code: 'internal',
  shouldRetry: false,
};
