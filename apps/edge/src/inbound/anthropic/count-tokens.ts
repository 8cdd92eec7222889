import type { EdgeDoor, RunIntent, StartOutcome } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import { takeBody } from '../http/take-body.ts';
import { startToRefusal } from '../http/to-http.ts';
import { parseMessagesRequest, type TranslatedRequest } from './chat-request.ts';
import { type Counted, CountReader } from './count-reader.ts';
import { findCountProblem } from './request-checks.ts';
import { estimateTokens } from './token-estimate.ts';

/** Whoever counts waits; an estimate now is worth more than a number then. */
const askMs = 5_000;
/** How long a model is not asked again that could not say. */
const forgetMs = 10 * 60_000;
const maxRemembered = 1000;

type CountEdge = Pick<EdgeDoor, 'start' | 'mayStore'>;

/** `POST /v1/messages/count_tokens`: the engine's own number where it serves this path, else an estimate, marked. */
export function createCountTokens(port: HttpPort, edge: CountEdge): (exchange: Exchange) => void {
  const mute = new Map<string, number>();
  return (exchange) => {
    takeBody({ port, edge, exchange }, ({ bytes, keyId }) => {
      const parsed = parseMessagesRequest(bytes, findCountProblem);
      if (parsed.kind === 'refused') exchange.refuse(parsed.refusal);
      else count({ port, edge, mute, exchange, request: parsed.request, keyId }, bytes);
    });
  };
}

interface Count {
  port: HttpPort;
  edge: CountEdge;
  /** Which key asked which model that cannot count, and until when that is taken for true. */
  mute: Map<string, number>;
  exchange: Exchange;
  request: TranslatedRequest;
  keyId: string;
}

function count(asked: Count, bytes: Uint8Array): void {
  const { edge, mute, port, exchange } = asked;
  if ((mute.get(nameOf(asked)) ?? 0) > port.clock.now()) {
    estimate(asked);
    return;
  }
  const reader = new CountReader(exchange, (counted) => conclude(asked, counted));
  const outcome = edge.start(toIntent(asked, bytes), reader);
  if (outcome.kind === 'accepted') {
    reader.owner.attach(outcome.run);
    return;
  }
  reader.owner.ended();
  if (needsNoNode.includes(outcome.kind)) estimate(asked);
  else exchange.refuse(startToRefusal(outcome));
}

/** Nobody can be asked now, which an estimate does not mind. */
const needsNoNode: readonly StartOutcome['kind'][] = [
  'unsupported-dialect',
  'no-node',
  'queue-full',
  'key-busy',
];

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

/** Another key may not be allowed to know of the model. */
function nameOf({ keyId, request }: Count): string {
  return `${keyId} ${request.model}`;
}

function conclude(asked: Count, counted: Counted): void {
  const { mute, port, exchange } = asked;
  if (counted.kind === 'tokens') {
    exchange.json(200, { input_tokens: counted.tokens });
    return;
  }
  if (counted.kind === 'cannot') {
    if (mute.size >= maxRemembered) mute.clear();
    mute.set(nameOf(asked), port.clock.now() + forgetMs);
  }
  estimate(asked);
}

function estimate({ exchange, request }: Count): void {
  exchange.json(200, { input_tokens: estimateTokens(request.chat) }, ['x-iop-estimated', 'true']);
}
