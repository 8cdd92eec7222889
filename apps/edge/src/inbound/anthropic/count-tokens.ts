import type { RunEnd } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';
import type { EdgeDoor, RunIntent, RunPlace, RunReader } from '../../core/door.ts';
import { RunOwner } from '../http/run-owner.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import { isObject } from '../http/problem.ts';
import { startToRefusal, unknownModel } from '../http/to-http.ts';
import { parseMessagesRequest, type TranslatedRequest } from './chat-request.ts';
import { findCountProblem } from './request-checks.ts';
import { takeBody } from './take-body.ts';
import { estimateTokens } from './token-estimate.ts';

/** Whoever counts waits; an estimate now is worth more than a number then. */
const askMs = 5_000;
/** How long a model is not asked again that could not say. */
const forgetMs = 10 * 60_000;
const answerLimitBytes = 64 * 1024;
const maxRemembered = 1000;

type CountEdge = Pick<EdgeDoor, 'start' | 'model'>;

/** `POST /v1/messages/count_tokens`: the engine's own number where it serves this path, else an estimate, marked. */
export function createCountTokens(port: HttpPort, edge: CountEdge): (exchange: Exchange) => void {
  const mute = new Map<string, number>();
  return (exchange) => {
    takeBody(port, exchange, ({ bytes, keyId }) => {
      const parsed = parseMessagesRequest(bytes, findCountProblem);
      if (parsed.kind === 'refused') return exchange.refuse(parsed.refusal);
      count({ port, edge, mute, exchange, request: parsed.request, keyId }, bytes);
    });
  };
}

interface Count {
  port: HttpPort;
  edge: CountEdge;
  /** Models that cannot count, and until when that is taken for true. */
  mute: Map<string, number>;
  exchange: Exchange;
  request: TranslatedRequest;
  keyId: string;
}

function count(asked: Count, bytes: Uint8Array): void {
  const { edge, mute, port, exchange, request } = asked;
  if ((mute.get(request.model) ?? 0) > port.clock.now()) return estimate(asked);
  const reader = new CountReader(exchange, (counted) => conclude(asked, counted));
  const outcome = edge.start(toIntent(asked, bytes), reader);
  switch (outcome.kind) {
    case 'accepted':
      reader.owner.attach(outcome.run);
      return;
    case 'unsupported-dialect':
    case 'no-node':
    case 'queue-full':
    case 'key-busy':
      reader.owner.ended();
      return estimate(asked);
    default:
      reader.owner.ended();
      exchange.refuse(startToRefusal(outcome));
  }
}

function toIntent({ request, keyId }: Count, body: Uint8Array): RunIntent {
  return {
    door: 'anthropic',
    keyId,
    select: { kind: 'model', model: request.model },
    dialect: 'openai.raw',
    raw: { path: 'messages/count_tokens', contentType: 'application/json' },
    body,
    stream: false,
    includeUsage: false,
    deadlineMs: askMs,
  };
}

function conclude({ mute, port, exchange, request, ...rest }: Count, counted: Counted): void {
  if (counted.kind === 'tokens') return exchange.json(200, { input_tokens: counted.tokens });
  if (counted.kind === 'cannot') {
    if (mute.size >= maxRemembered) mute.clear();
    mute.set(request.model, port.clock.now() + forgetMs);
  }
  estimate({ mute, port, exchange, request, ...rest });
}

function estimate({ edge, exchange, request, keyId }: Count): void {
  const { model, chat } = request;
  if (edge.model(model, keyId) === undefined) return exchange.refuse(unknownModel(model, []));
  exchange.json(200, { input_tokens: estimateTokens(chat) }, ['x-iop-estimated', 'true']);
}

type Counted = { kind: 'tokens'; tokens: number } | { kind: 'cannot' } | { kind: 'failed' };

/** Statuses of a server that does not know the path. */
const unknownPath: readonly number[] = [404, 405, 501];

class CountReader implements RunReader {
  readonly owner: RunOwner;
  readonly #done: (counted: Counted) => void;
  readonly #exchange: Exchange;
  #parts: Uint8Array[] = [];
  #sizeBytes = 0;

  constructor(exchange: Exchange, done: (counted: Counted) => void) {
    this.owner = new RunOwner(exchange);
    this.#exchange = exchange;
    this.#done = done;
  }

  dispatched(place: RunPlace): void {
    this.#exchange.place = place;
  }

  events(events: readonly RuntimeEvent[], sizeBytes: number): void {
    this.#sizeBytes += sizeBytes;
    if (this.#sizeBytes > answerLimitBytes) this.#parts = [];
    else for (const event of events) if (event.kind === 'raw') this.#parts.push(event.bytes);
    this.owner.consumed(sizeBytes);
  }

  end(end: RunEnd): void {
    this.owner.ended();
    if (this.owner.hasLeft || this.#exchange.isOver) return;
    if (end.kind === 'completed') this.#done(readCount(Buffer.concat(this.#parts).toString()));
    else this.#done({ kind: isUnknownPath(end) ? 'cannot' : 'failed' });
  }
}

function isUnknownPath(end: RunEnd): boolean {
  return end.kind === 'failed' && unknownPath.includes(end.failure.upstream?.status ?? 0);
}

function readCount(text: string): Counted {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'cannot' };
  }
  const tokens = isObject(value) ? value.input_tokens : undefined;
  return Number.isSafeInteger(tokens) ? { kind: 'tokens', tokens: Number(tokens) } : { kind: 'cannot' };
}
