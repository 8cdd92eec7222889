import { parseArgs } from 'node:util';
import { type TargetName, targetNames } from './targets/target.ts';

export const rowIds = ['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P10', 'P11', 'embeddings', 'cli'] as const;
export type RowId = (typeof rowIds)[number];

/** How long and how often things are measured. */
export interface Scale {
  rounds: number;
  /** Of the rows that climb or fill memory, where one cell takes many seconds. */
  longRounds: number;
  /** Of each target, once, before P1, half of it requests and half of it streams. */
  warmUpMs: number;
  warmMs: number;
  windowMs: number;
  streamWindowMs: number;
  firstTokens: number;
  /** Streams held open for the memory row, ascending. */
  heldStreams: readonly number[];
  settleMs: number;
  /** Of each pace of P10. */
  storeWindowMs: number;
}

export interface BenchOptions {
  rows: readonly RowId[];
  targets: readonly TargetName[];
  scale: Scale;
  jsonFile: string;
  force: boolean;
  seed: number;
  /** Folder for CPU profiles of Edge and Node. */
  profileDir: string | undefined;
}

const full: Scale = {
  rounds: 5,
  longRounds: 3,
  warmUpMs: 36_000,
  warmMs: 150,
  windowMs: 1000,
  streamWindowMs: 2000,
  firstTokens: 15,
  heldStreams: [1000, 5000],
  settleMs: 1500,
  storeWindowMs: 4000,
};

const quick: Scale = {
  rounds: 2,
  longRounds: 1,
  warmUpMs: 4000,
  warmMs: 100,
  windowMs: 400,
  streamWindowMs: 700,
  firstTokens: 8,
  heldStreams: [1000],
  settleMs: 500,
  storeWindowMs: 1500,
};

export const usage = `npm run bench -- [options]
  --quick            2 short rounds, about 3 minutes; for a look, not for figures
  --rounds N         rounds of P1–P3 and P11 (5); the others take at most 3
  --only P1,P3       these rows
  --targets A,B      of ${targetNames.join(', ')}; direct is always there
  --json FILE        where the figures go (bench/results/last.json)
  --force            measure on a busy machine too, and mark the result
  --seed N           order of the targets within the rounds (random)
  --profile DIR      run Edge and Node with --cpu-prof into DIR`;

/** @returns 'help', or what was asked for. Throws an Error that says what is wrong. */
export function parseOptions(argv: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string' },
      targets: { type: 'string' },
      json: { type: 'string' },
      force: { type: 'boolean', default: false },
      seed: { type: 'string' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  return {
    rows: pick(values.only, rowIds, '--only'),
    targets: withDirect(pick(values.targets, targetNames, '--targets')),
    scale: toScale(values.quick ? quick : full, values.rounds),
    jsonFile: values.json ?? new URL('./results/last.json', import.meta.url).pathname,
    force: values.force,
    seed: values.seed === undefined ? Date.now() % 1_000_000 : parseCount(values.seed, '--seed'),
    profileDir: values.profile,
  };
}

function toScale(scale: Scale, rounds: string | undefined): Scale {
  if (rounds === undefined) return scale;
  const count = parseCount(rounds, '--rounds');
  return { ...scale, rounds: count, longRounds: Math.min(count, 3) };
}

function withDirect(names: readonly TargetName[]): readonly TargetName[] {
  return names.includes('direct') ? names : ['direct', ...names];
}

function pick<T extends string>(text: string | undefined, known: readonly T[], flag: string): readonly T[] {
  if (text === undefined) return known;
  return text.split(',').map((name) => {
    const found = known.find((one) => one === name.trim());
    if (found === undefined) throw new Error(`${flag}: ${name} is unknown; known are ${known.join(', ')}`);
    return found;
  });
}

function parseCount(text: string, flag: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`${flag}: ${text} is not a whole number above 0`);
  return value;
}
