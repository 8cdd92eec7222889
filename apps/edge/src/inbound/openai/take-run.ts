import { hash } from 'node:crypto';
import type { RunCreation, RunIntent } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import type { Wishes } from '../http/run-wishes.ts';
import { type RunStarter, startKept } from '../http/start-kept.ts';
import { takeBody } from '../http/take-body.ts';
import { startToRefusal } from '../http/to-http.ts';
import { createAnswer } from './create-answer.ts';
import type { RunRequest, RunShape } from './run-shape.ts';

/** Takes a request in this shape, from its head to a run with an owner. */
export type TakeRun = (exchange: Exchange, shape: RunShape) => void;

export function createTakeRun(port: HttpPort, edge: RunStarter): TakeRun {
  return (exchange, shape) => {
    takeBody({ port, edge, exchange }, ({ bytes, keyId, wishes }) => {
      const parsed = shape.parse(bytes);
      const taken = { port, edge, exchange, shape, wishes, keyId };
      if (parsed.kind === 'refused') exchange.refuse(parsed.refusal);
      else startRun(taken, toIntent(taken, parsed.request, bytes));
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
