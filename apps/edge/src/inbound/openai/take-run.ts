import { hash } from 'node:crypto';
import type { RunCreation, RunIntent } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import { invalidRequest, type Refusal } from '../http/refusal.ts';
import { type BodyOutcome, readBody } from '../http/request-body.ts';
import { readWishes, type Wishes } from '../http/run-wishes.ts';
import { type RunStarter, startKept } from '../http/start-kept.ts';
import { startToRefusal } from '../http/to-http.ts';
import { createAnswer } from './create-answer.ts';
import type { RunRequest, RunShape } from './run-shape.ts';

/** Takes a request in this shape, from its head to a run with an owner. */
export type TakeRun = (exchange: Exchange, shape: RunShape) => void;

export function createTakeRun(port: HttpPort, edge: RunStarter): TakeRun {
  return (exchange, shape) => {
    const caller = port.checkCaller(exchange.req);
    if (caller.kind === 'refused') return exchange.refuse(caller.refusal);
    const refusal = checkEncoding(exchange);
    if (refusal !== undefined) return exchange.refuse(refusal);
    const wishes = readWishes(exchange.req, edge);
    if (wishes.kind === 'refused') return exchange.refuse(wishes.refusal);
    readBody(exchange.req, port.bodyLimitBytes, (body) => {
      port.guard(exchange, () =>
        takeBody({ port, edge, exchange, shape, wishes, keyId: caller.keyId }, body),
      );
    });
  };
}

interface Taken {
  port: HttpPort;
  edge: RunStarter;
  exchange: Exchange;
  shape: RunShape;
  wishes: Wishes;
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
  const { wishes, edge, exchange, port } = taken;
  const answer = createAnswer({
    port,
    exchange,
    shape: taken.shape,
    intent,
    afterNumber: wishes.afterNumber,
  });
  if (wishes.runClass === 'detached' || wishes.idempotencyKey !== undefined) {
    const creation = toCreation(intent, wishes);
    void startKept({ edge, exchange, port }, { answer, creation });
    return;
  }
  const outcome = edge.start(intent, answer);
  if (outcome.kind === 'accepted') {
    answer.owner.attach(outcome.run);
    return;
  }
  answer.discard();
  exchange.refuse(startToRefusal(outcome));
}

function toCreation(intent: RunIntent, { runClass, idempotencyKey: key }: Wishes): RunCreation {
  if (key === undefined) return { ...intent, runClass };
  return { ...intent, runClass, idempotency: { key, bodyHash: hash('sha256', intent.body, 'hex') } };
}
