import { seededRandom } from '../harness/random.ts';
import { type Fault, type FaultAct, type FaultKind, lengthMs } from './history/fault.ts';

export interface ScheduleInit {
  seed: number;
  lastsMs: number;
  nodes: readonly string[];
  /** From then on a Node that is away has lost its attached runs, or its detached ones. */
  lostAfterMs: number;
  detachedLostAfterMs: number;
}

type Card = { who: 'edge' | 'node'; kind: FaultKind; long?: 'lost' | 'all-lost' };

/** Faults are dealt like cards, so that a short soak has each kind too, and a seed the same order every time. */
const deck: readonly Card[] = [
  ...times(3, { who: 'node', kind: 'kill' }),
  { who: 'edge', kind: 'kill' },
  { who: 'edge', kind: 'term' },
  { who: 'node', kind: 'term' },
  { who: 'edge', kind: 'freeze' },
  ...times(2, { who: 'node', kind: 'freeze' }),
  { who: 'node', kind: 'freeze', long: 'lost' },
  ...times(3, { who: 'node', kind: 'cut' }),
  ...times(5, { who: 'node', kind: 'cut-in-frame' }),
  ...times(2, { who: 'node', kind: 'hold' }),
  ...times(2, { who: 'node', kind: 'blackhole' }),
  { who: 'node', kind: 'blackhole', long: 'lost' },
  { who: 'node', kind: 'refuse' },
  ...times(2, { who: 'node', kind: 'storm' }),
];
const rareCards: readonly Card[] = [{ who: 'node', kind: 'blackhole', long: 'all-lost' }];

/** What comes first, so that a soak of seconds has killed what matters. */
const opening: readonly Card[] = [
  { who: 'node', kind: 'kill' },
  { who: 'edge', kind: 'kill' },
  { who: 'node', kind: 'cut-in-frame' },
  { who: 'node', kind: 'kill' },
  { who: 'node', kind: 'cut' },
];

/** After a fault its victim is left alone for so long. */
const recoveryMs = 2_500;

/** A function of its arguments alone. */
export function drawSchedule(init: ScheduleInit): Fault[] {
  const random = seededRandom(init.seed);
  const faults: Fault[] = [];
  const freeAt = new Map<string, number>();
  let cards = [...opening];
  let decks = 0;
  for (let atMs = 1_000; atMs < init.lastsMs; atMs += 400 + random() * 2_200) {
    if (cards.length === 0) cards = shuffle(++decks % 2 === 0 ? [...deck, ...rareCards] : deck, random);
    const card = cards.shift();
    if (card === undefined) break;
    const victim = card.who === 'edge' ? 'edge' : pickOne(init.nodes, random);
    const act = toAct(card, init, random);
    const startsMs = Math.max(atMs, freeAt.get(victim) ?? 0);
    if (startsMs + lengthMs(act) > init.lastsMs) continue;
    freeAt.set(victim, startsMs + lengthMs(act) + recoveryMs);
    faults.push({ atMs: Math.round(startsMs), victim, act });
  }
  return faults.toSorted((one, other) => one.atMs - other.atMs);
}

function toAct({ kind, who, long }: Card, init: ScheduleInit, random: () => number): FaultAct {
  const shortMs = Math.round(200 + random() * Math.min(2_000, init.lostAfterMs - 1_000));
  const beyondMs = long === 'all-lost' ? init.detachedLostAfterMs : init.lostAfterMs;
  const lastsMs = long === undefined ? shortMs : Math.round(beyondMs + 1_000 + random() * 1_500);
  switch (kind) {
    case 'kill':
    case 'term':
      return { kind, downMs: Math.round(random() * (who === 'edge' ? 1_000 : 2_000)) };
    case 'cut':
      return { kind };
    case 'cut-in-frame':
      return { kind, direction: random() < 0.7 ? 'up' : 'down', bytes: Math.floor(random() * 5_000) };
    case 'storm':
      return { kind, lastsMs, status: random() < 0.5 ? 503 : 429 };
    default:
      return { kind, lastsMs };
  }
}

function times(count: number, card: Card): Card[] {
  return Array.from({ length: count }, () => card);
}

function shuffle<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((item) => ({ item, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

export function pickOne<T>(list: readonly T[], random: () => number): T {
  const item = list[Math.floor(random() * list.length)];
  if (item === undefined) throw new Error('there is nothing to pick from');
  return item;
}
