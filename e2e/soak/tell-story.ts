import { type Indexed, indexHistory, nodesOf, type Violation } from './check/violation.ts';
import type { Ask } from './history/ask.ts';
import type { History } from './history/history.ts';

const aroundMs = 25_000;

/** A broken invariant, and everything that is known of its run: for people who look for the cause. */
export function tellStory(history: History, violation: Violation): string {
  const indexed = indexHistory(history);
  const { rule, runId, marker, expected, found } = violation;
  return [
    `BROKEN: ${rule}`,
    `  seed      ${history.seed}`,
    `  run       ${runId ?? 'none'} (${marker ?? 'no marker'})`,
    `  expected  ${expected}`,
    `  found     ${found}`,
    ...tellRun(indexed, violation),
    ...tellAsks(history, violation),
    '',
  ].join('\n');
}

function tellRun(indexed: Indexed, { runId, marker }: Violation): string[] {
  const run = indexed.runOf(runId);
  if (run === undefined) return [];
  const { createdAtMs, endedAtMs = createdAtMs } = run.record;
  const victims = ['edge', ...nodesOf(run)];
  const faults = indexed.faultsOf(victims, createdAtMs - aroundMs, endedAtMs + 1_000);
  const at = (ms: number) => `${((ms - createdAtMs) / 1000).toFixed(3)} s`;
  return [
    `  record    ${JSON.stringify(run.record)}`,
    '  log, without pieces of the answer',
    ...run.log.events
      .filter(({ isContent }) => !isContent)
      .map(({ pos, print }) => `    ${pos} ${print.slice(0, 600)}`),
    `  content   ${run.log.content.slice(0, 300)}`,
    `  faults, by the time since the run was created; it ended at ${at(endedAtMs)}`,
    ...faults.map(
      ({ victim, act, startedAtMs, endedAtMs: over }) =>
        `    ${at(startedAtMs)} to ${at(over)} ${victim} ${JSON.stringify(act)}`,
    ),
    '  what began to work for it',
    ...indexed
      .effectsOf(run.record.marker ?? marker)
      .map((effect) => `    ${at(effect.atMs)} ${JSON.stringify(effect)}`),
  ];
}

function tellAsks(history: History, { runId, marker }: Violation): string[] {
  const isMeant = (ask: Ask) =>
    (runId !== undefined && ask.runId === runId) || (marker !== undefined && ask.script.marker === marker);
  const asks = history.asks.filter(isMeant);
  return asks.length === 0 ? [] : ['  who asked', ...asks.map((ask) => `    ${toLine(ask)}`)];
}

function toLine({ script, outcome, ...ask }: Ask): string {
  const { transcript, ...rest } = { transcript: undefined, ...outcome };
  const short = 'content' in rest ? { ...rest, content: rest.content.slice(0, 200) } : rest;
  const size = transcript === undefined ? {} : { transcript: JSON.stringify(transcript).length };
  return JSON.stringify({ ...ask, model: script.model, outcome: { ...short, ...size } });
}
