import type { Violation } from './check/violation.ts';
import { closingTimes, runTimes, type Spread } from './durations.ts';
import { type Counts, countHistory } from './history/count-history.ts';
import type { History, ProcessFigures } from './history/history.ts';

/** What a soak says of itself, as data. */
export interface Report {
  seed: number;
  minutes: number;
  counts: Counts;
  outcomes: Record<string, number>;
  ends: Record<string, number>;
  /** Milliseconds. */
  times: { run: Spread; closing: Spread };
  programs: Record<string, { baseline: ProcessFigures; peak: ProcessFigures; last: ProcessFigures }>;
  walBytes: Record<string, number>;
  violations: readonly Violation[];
}

export function toReport(history: History, violations: readonly Violation[]): Report {
  const { seed, chaosMs, left } = history;
  return {
    seed,
    minutes: chaosMs / 60_000,
    counts: countHistory(history),
    outcomes: tally(history.asks.map(({ outcome }) => outcome.kind)),
    ends: tally(history.runs.map(({ record }) => endWord(record))),
    times: { run: runTimes(history), closing: closingTimes(history) },
    programs: Object.fromEntries(
      left.programs.map(({ name, baseline, peak, last }) => [name, { baseline, peak, last }]),
    ),
    walBytes: Object.fromEntries(left.stores.map(({ file, walBytes }) => [file, walBytes])),
    violations,
  };
}

function endWord({ runClass, end }: History['runs'][number]['record']): string {
  if (end === undefined) return `${runClass} open`;
  if (end.kind === 'failed') return `${runClass} failed ${end.failure.code}`;
  return end.kind === 'cancelled' ? `${runClass} cancelled ${end.by}` : `${runClass} completed`;
}

function tally(words: readonly string[]): Record<string, number> {
  const counted = [...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length] as const);
  return Object.fromEntries(counted.toSorted(([, one], [, other]) => other - one));
}

export function reportText({
  seed,
  minutes,
  counts,
  outcomes,
  ends,
  times,
  programs,
  walBytes,
}: Report): string {
  const figures = Object.entries(programs).map(
    ([name, { baseline, peak, last }]) =>
      `  ${name}: ${inMib(baseline)}, at most ${inMib(peak)}, at last ${inMib(last)}`,
  );
  return [
    `seed ${seed}, ${minutes.toFixed(1)} minutes`,
    table('counted', counts),
    table('answers', outcomes),
    table('runs', ends),
    'times in ms',
    `  from creation to completion: ${inWords(times.run)}`,
    `  from a caller that hangs up to its upstream closed, where nothing else was broken: ${inWords(times.closing)}`,
    'resident memory and open files before, at most, at last',
    ...figures,
    table('longest write-ahead logs, bytes', walBytes),
    '',
  ].join('\n');
}

function inWords({ count, p50, p99, longest }: Spread): string {
  return `p50 ${p50}, p99 ${p99}, at most ${longest} (${count})`;
}

function inMib({ residentBytes, files }: ProcessFigures): string {
  return `${Math.round(residentBytes / 1024 / 1024)} MiB and ${files} files`;
}

function table(title: string, counts: object): string {
  const rows = Object.entries(counts).map(([word, count]) => `  ${String(count).padStart(8)}  ${word}`);
  return [title, ...rows].join('\n');
}
