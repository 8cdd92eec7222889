import type { EdgeDoor, RunIntent } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import { invalidRequest, type Refusal } from '../http/refusal.ts';
import { type BodyOutcome, readBody } from '../http/request-body.ts';
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
    const refusal = checkDisconnect(exchange) ?? checkEncoding(exchange);
    if (refusal !== undefined) return exchange.refuse(refusal);
    readBody(exchange.req, port.bodyLimitBytes, (body) => {
      port.guard(exchange, () => takeBody({ port, edge, exchange, keyId: caller.keyId }, body));
    });
  };
}

interface Taken {
  port: HttpPort;
  edge: Pick<EdgeDoor, 'start'>;
  exchange: Exchange;
  keyId: string;
}

function takeBody(taken: Taken, body: BodyOutcome): void {
  const { port, exchange } = taken;
  if (exchange.isOver) return;
  if (body.kind === 'too-large') exchange.refuse(bodyTooLarge(port.bodyLimitBytes));
  else takeBytes(taken, body.bytes);
}

function takeBytes({ port, edge, exchange, keyId }: Taken, bytes: Uint8Array): void {
  const parsed = parseChatRequest(bytes);
  if (parsed.kind === 'refused') exchange.refuse(parsed.refusal);
  else startRun(edge, toIntent(keyId, parsed.request, bytes), answerInit(port, exchange, parsed.request));
}

function checkEncoding({ req }: Exchange): Refusal | undefined {
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return undefined;
  const message = 'The request body is compressed; send it as it is, without Content-Encoding.';
  return { ...invalidRequest(message, 'unsupported_encoding'), status: 415 };
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
  const { clock, times, log } = port;
  const identity: AnswerIdentity = {
    id: `chatcmpl-${exchange.requestId}`,
    createdS: Math.floor(clock.wall() / 1000),
    model,
  };
  return { exchange, clock, times, log, identity, includeUsage };
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
