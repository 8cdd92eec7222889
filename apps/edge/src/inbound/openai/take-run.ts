import type { EdgeDoor, RunIntent } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import { invalidRequest, type Refusal } from '../http/refusal.ts';
import { type BodyOutcome, readBody } from '../http/request-body.ts';
import { startToRefusal } from '../http/to-http.ts';
import type { RunRequest, RunShape } from './run-shape.ts';
import { type AnswerInit, StreamAnswer } from './stream-answer.ts';
import { WholeAnswer } from './whole-answer.ts';

/** Takes a request in this shape, from its head to a run with an owner. */
export type TakeRun = (exchange: Exchange, shape: RunShape) => void;

export function createTakeRun(port: HttpPort, edge: Pick<EdgeDoor, 'start'>): TakeRun {
  return (exchange, shape) => {
    const caller = port.checkCaller(exchange.req);
    if (caller.kind === 'refused') return exchange.refuse(caller.refusal);
    const refusal = checkDisconnect(exchange) ?? checkEncoding(exchange);
    if (refusal !== undefined) return exchange.refuse(refusal);
    readBody(exchange.req, port.bodyLimitBytes, (body) => {
      port.guard(exchange, () => takeBody({ port, edge, exchange, shape, keyId: caller.keyId }, body));
    });
  };
}

interface Taken {
  port: HttpPort;
  edge: Pick<EdgeDoor, 'start'>;
  exchange: Exchange;
  shape: RunShape;
  keyId: string;
}

function takeBody(taken: Taken, body: BodyOutcome): void {
  const { port, exchange } = taken;
  if (exchange.isOver) return;
  if (body.kind === 'too-large') exchange.refuse(bodyTooLarge(port.bodyLimitBytes));
  else takeBytes(taken, body.bytes);
}

function takeBytes(taken: Taken, bytes: Uint8Array): void {
  const parsed = taken.shape.parse(bytes);
  if (parsed.kind === 'refused') taken.exchange.refuse(parsed.refusal);
  else startRun(taken, toIntent(taken, parsed.request, bytes));
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

function toIntent({ keyId, shape }: Taken, request: RunRequest, body: Uint8Array): RunIntent {
  const { model, stream, includeUsage, raw } = request;
  return {
    door: 'openai',
    keyId,
    select: { kind: 'model', model },
    dialect: shape.dialect,
    body,
    stream,
    includeUsage,
    ...(raw !== undefined && { raw }),
  };
}

function startRun(taken: Taken, intent: RunIntent): void {
  const init = answerInit(taken, intent);
  // Nobody here knows the events of a raw stream, so nothing can be put between them.
  const isEvents = intent.stream && intent.raw === undefined;
  const answer = isEvents ? new StreamAnswer(init) : new WholeAnswer(init);
  const outcome = taken.edge.start(intent, answer);
  if (outcome.kind === 'accepted') {
    answer.owner.attach(outcome.run);
    return;
  }
  answer.discard();
  taken.exchange.refuse(startToRefusal(outcome));
}

function answerInit(
  { port, exchange, shape }: Taken,
  { select, stream, includeUsage }: RunIntent,
): AnswerInit {
  const { clock, times, log } = port;
  const identity = {
    id: `${shape.idPrefix}-${exchange.requestId}`,
    createdS: Math.floor(clock.wall() / 1000),
    model: select.kind === 'model' ? select.model : select.target,
  };
  return { exchange, clock, times, log, shape, identity, stream, includeUsage };
}
