import { seededRandom } from '../harness/random.ts';
import type { SeenRequest, Upstream } from '../harness/upstream.ts';
import type { StreamEnd, UpstreamAct } from '../harness/upstream-act.ts';
import type { Effect } from './history/history.ts';
import { markerIn, readOrder, wordsOf } from './history/script.ts';
import { wallMs } from './wall.ts';

/** The upstream of one Node: says what each request asks for, unless the weather of that request is bad. */
export interface Weather {
  /** Undefined: as usual. */
  storm(status: number | undefined): void;
  effects(): Effect[];
}

const badEnds: readonly StreamEnd[] = ['cut', 'reset', 'end-early', 'hang'];

export function makeWeather(node: string, upstream: Upstream): Weather {
  const plans = new Map<SeenRequest, string>();
  const visits = new Map<string, number>();
  let status: number | undefined;
  upstream.act((seen) => {
    const marker = markerIn(seen.text) ?? '';
    const visit = (visits.get(marker) ?? 0) + 1;
    visits.set(marker, visit);
    const act = status === undefined ? actOf(seen, visit) : refusal(status);
    plans.set(seen, planOf(act));
    return act;
  });
  return {
    storm(now) {
      status = now;
    },
    effects: () => upstream.requests.map((seen) => effectOf(node, seen, plans.get(seen) ?? 'unknown')),
  };
}

/** A function of the request and of how often it came, so that a seed has the same weather every time. */
function actOf(seen: SeenRequest, visit: number): UpstreamAct {
  const order = readOrder(seen.text);
  if (order === undefined) return { kind: 'bytes', status: 400, body: '{"error":{"message":"no order"}}' };
  const { marker, words, paceMs } = order;
  const chunks = wordsOf(marker, words);
  const random = seededRandom(hashOf(`${marker}#${visit}`));
  const dice = random();
  if (dice < 0.03) return { kind: 'drop' };
  if (dice < 0.05) return refusal(500);
  if (dice < 0.06) return refusal(429);
  if (dice < 0.07) return { kind: 'hang' };
  if (seen.body.stream !== true) return { kind: 'json', content: chunks.join(''), delayMs: words * paceMs };
  if (dice >= 0.14) return { kind: 'stream', chunks, paceMs, delayMs: random() * 100 };
  const end = badEnds[Math.floor(random() * badEnds.length)] ?? 'cut';
  return { kind: 'stream', chunks: chunks.slice(0, Math.floor(random() * words)), paceMs, end };
}

function refusal(status: number): UpstreamAct {
  const body = JSON.stringify({
    error: { message: 'the soak said so', type: 'soak', code: 'soak', param: null },
  });
  return { kind: 'bytes', status, body };
}

function planOf(act: UpstreamAct): string {
  if (act.kind === 'stream') return act.end ?? 'done';
  if (act.kind === 'bytes') return String(act.status);
  return act.kind === 'json' ? 'done' : act.kind;
}

function effectOf(node: string, seen: SeenRequest, plan: string): Effect {
  return {
    marker: markerIn(seen.text) ?? '',
    model: 'm',
    node,
    atMs: wallMs(seen.arrivedAt),
    closedAtMs: seen.closedAt === undefined ? undefined : wallMs(seen.closedAt),
    pieces: seen.body.stream === true ? seen.sentAt.length : seen.finished ? 1 : 0,
    plan,
  };
}

/** FNV-1a, 32 bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
