import type { Ask } from '../history/ask.ts';
import type { Effect, FaultNote, History } from '../history/history.ts';
import type { RunStory } from '../history/run-story.ts';

/** Something that must never be seen. */
export interface Violation {
  rule: string;
  runId?: string | undefined;
  marker?: string | undefined;
  expected: string;
  found: string;
}

/** A history, and what of it belongs together. */
export interface Indexed {
  history: History;
  runOf(runId: string | undefined): RunStory | undefined;
  runsOf(marker: string): readonly RunStory[];
  asksOf(run: RunStory): readonly Ask[];
  effectsOf(marker: string | undefined): readonly Effect[];
  /** Faults of one of these that began or ended or lasted in this time. */
  faultsOf(victims: readonly string[], fromMs: number, toMs: number): readonly FaultNote[];
}

export type Rule = (indexed: Indexed) => Violation[];

export function indexHistory(history: History): Indexed {
  const runs = new Map(history.runs.map((run) => [run.record.runId, run]));
  const byMarker = Map.groupBy(history.runs, ({ record }) => record.marker ?? '');
  const asksByRun = Map.groupBy(history.asks, ({ runId }) => runId ?? '');
  const asksByMarker = Map.groupBy(history.asks, ({ script }) => script.marker);
  const effects = Map.groupBy(history.effects, ({ marker }) => marker);
  return {
    history,
    runOf: (runId) => runs.get(runId ?? ''),
    runsOf: (marker) => byMarker.get(marker) ?? [],
    asksOf: ({ record: { runId, marker } }) => [
      ...new Set([...(asksByRun.get(runId) ?? []), ...(asksByMarker.get(marker ?? '') ?? [])]),
    ],
    effectsOf: (marker) => effects.get(marker ?? '') ?? [],
    faultsOf: (victims, fromMs, toMs) =>
      history.faults.filter(
        ({ victim, startedAtMs, endedAtMs }) =>
          victims.includes(victim) && startedAtMs <= toMs && endedAtMs >= fromMs,
      ),
  };
}

/** Where the attempts of a run were. */
export function nodesOf({ record, log }: RunStory): string[] {
  const named = log.events.flatMap(({ kind, node }) => (kind === 'attempt' && node ? [node] : []));
  return [...new Set(record.node === '' ? named : [...named, record.node])];
}

export function cut(text: string, length = 300): string {
  return text.length <= length ? text : `${text.slice(0, length)}… (${text.length} characters)`;
}
