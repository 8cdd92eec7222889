import { hash } from 'node:crypto';
import type { RunCreation, RunIntent } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import { type RunAnswer, type RunStarter, startKept } from '../http/start-kept.ts';
import { type TakenBody, takeBody } from '../http/take-body.ts';
import { startToRefusal } from '../http/to-http.ts';
import { parseMessagesRequest, type TranslatedRequest } from './chat-request.ts';
import { MessageStream } from './message-stream.ts';
import { MessageWhole } from './message-whole.ts';
import { findProblem } from './request-checks.ts';
import { firstUsage } from './token-estimate.ts';

/** `POST /v1/messages`, from its head to a run with an owner. */
export function takeMessage(port: HttpPort, edge: RunStarter, exchange: Exchange): void {
  takeBody({ port, edge, exchange }, (body) => {
    const parsed = parseMessagesRequest(body.bytes, findProblem);
    if (parsed.kind === 'refused') exchange.refuse(parsed.refusal);
    else begin({ port, edge, exchange, request: parsed.request, body });
  });
}

interface Asked {
  port: HttpPort;
  edge: RunStarter;
  exchange: Exchange;
  request: TranslatedRequest;
  body: TakenBody;
}

/** Whatever is not kept waits for no disk. */
function begin(asked: Asked): void {
  const { port, edge, exchange, body } = asked;
  const { runClass, idempotencyKey } = body.wishes;
  const answer = answerOf(asked);
  if (runClass === 'detached' || idempotencyKey !== undefined) {
    void startKept({ edge, exchange, port }, { answer, creation: toCreation(asked) });
    return;
  }
  const outcome = edge.start(toIntent(asked), answer);
  if (outcome.kind === 'accepted') {
    answer.owner.attach(outcome.run);
    return;
  }
  answer.discard();
  exchange.refuse(startToRefusal(outcome));
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

function toCreation(asked: Asked): RunCreation {
  const { bytes, wishes } = asked.body;
  const { runClass, idempotencyKey: key } = wishes;
  const creation = { ...toIntent(asked), asked: bytes, runClass };
  return key === undefined
    ? creation
    : { ...creation, idempotency: { key, bodyHash: hash('sha256', bytes, 'hex') } };
}

function answerOf({ port, exchange, request }: Asked): RunAnswer {
  const { clock, times, log } = port;
  const init = { exchange, clock, times, log, request, firstUsage: () => firstUsage(request.chat) };
  return request.stream ? new MessageStream(init) : new MessageWhole(init);
}
