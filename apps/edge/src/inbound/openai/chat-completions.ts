import type { EdgeDoor, RunIntent } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import { invalidRequest, type Refusal } from '../http/refusal.ts';
import { readBody } from '../http/request-body.ts';
import type { AnswerIdentity } from './answer-words.ts';
import { type ChatRequest, parseChatRequest } from './chat-request.ts';
import { type AnswerInit, StreamAnswer } from './stream-answer.ts';
import { startToRefusal } from './to-http.ts';
import { WholeAnswer } from './whole-answer.ts';

/** `POST /v1/chat/completions`, from the head of the request to a run with an owner. */
export function takeChatCompletion(
  port: HttpPort,
  edge: Pick<EdgeDoor, 'start'>,
): (exchange: Exchange) => void {
  return (exchange) => {
    const caller = port.checkCaller(exchange.req);
    if (caller.kind === 'refused') return exchange.refuse(caller.refusal);
    const refusal = checkDisconnect(exchange);
    if (refusal !== undefined) return exchange.refuse(refusal);
    readBody(exchange.req, port.bodyLimitBytes, (outcome) => {
      if (exchange.isOver) return;
      if (outcome.kind === 'too-large') return exchange.refuse(bodyTooLarge(port.bodyLimitBytes));
      const parsed = parseChatRequest(outcome.bytes);
      if (parsed.kind === 'refused') return exchange.refuse(parsed.refusal);
      const intent = toIntent(caller.keyId, parsed.request, outcome.bytes);
      startRun(edge, intent, answerInit(port, exchange, parsed.request));
    });
  };
}

/** Whether a run outlives its caller is decided before it starts; for now it never does. */
function checkDisconnect({ req }: Exchange): Refusal | undefined {
  const wish = req.headers['x-iop-on-disconnect'];
  if (wish === undefined || wish === 'cancel') return undefined;
  if (wish !== 'continue')
    return invalidRequest('x-iop-on-disconnect is either `cancel` or `continue`.', 'invalid_value');
  const message = 'x-iop-on-disconnect: continue is not supported yet: a run ends with its connection.';
  return invalidRequest(message, 'unsupported');
}

function bodyTooLarge(limitBytes: number): Refusal {
  const message = `The request body is larger than ${limitBytes} bytes, the limit of this Edge (http.body_limit).`;
  return { status: 413, message, type: 'invalid_request_error', code: 'request_too_large', close: true };
}

function toIntent(keyId: string, request: ChatRequest, body: Uint8Array): RunIntent {
  const { model, stream, includeUsage } = request;
  return {
    door: 'openai',
    keyId,
    select: { kind: 'model', model },
    dialect: 'openai.chat',
    body,
    stream,
    includeUsage,
  };
}

function answerInit(port: HttpPort, exchange: Exchange, { model, includeUsage }: ChatRequest): AnswerInit {
  const { clock, times } = port;
  const identity: AnswerIdentity = {
    id: `chatcmpl-${exchange.requestId}`,
    createdS: Math.floor(clock.wall() / 1000),
    model,
  };
  return { exchange, clock, times, identity, includeUsage };
}

function startRun(edge: Pick<EdgeDoor, 'start'>, intent: RunIntent, init: AnswerInit): void {
  const answer = intent.stream ? new StreamAnswer(init) : new WholeAnswer(init);
  const outcome = edge.start(intent, answer);
  if (outcome.kind === 'accepted') {
    answer.owner.attach(outcome.run);
    return;
  }
  answer.discard();
  init.exchange.refuse(startToRefusal(outcome));
}
