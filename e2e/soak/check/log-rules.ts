import type { RunEnd } from '@iop/domain';
import type { RunStory } from '../history/run-story.ts';
import { cut, type Rule, type Violation } from './violation.ts';

type Finding = { expected: string; found: string } | undefined;

/** What must hold of every run by itself, in its record and its log. */
const ofEachRun: Readonly<Record<string, (run: RunStory) => Finding>> = {
  'one end, in the record': ({ record: { end, endedAtMs, state } }) =>
    end !== undefined && endedAtMs !== undefined && state === end.kind
      ? undefined
      : { expected: 'a record with an end, and its state', found: JSON.stringify({ end, endedAtMs, state }) },

  'one end, at the end of the log': ({ log }) => {
    const ends = log.events.filter(({ kind }) => kind === 'end').length;
    const last = log.events.at(-1);
    return ends === 1 && last?.kind === 'end'
      ? undefined
      : { expected: 'one end, as the last event', found: `${ends} ends, the last event is ${last?.print}` };
  },

  'record and log end alike': ({ record, log }) => {
    const [expected, found] = [record.end, log.events.at(-1)?.end].map((end) => end && essence(end));
    return expected === found ? undefined : { expected: String(expected), found: String(found) };
  },

  'pos without gaps': ({ record, log }) => {
    const wrong = log.events.find(({ pos }, index) => pos !== index + 1);
    const isWhole = log.firstPos === 1 && wrong === undefined && log.events.length === record.lastPos;
    const found = `from ${log.firstPos}, ${log.events.length} events, first out of place: ${wrong?.pos}`;
    return isWhole ? undefined : { expected: `1 to ${record.lastPos}`, found };
  },

  'attempts count up from 1': ({ record, log }) => {
    const numbers = log.events.filter(({ kind }) => kind === 'attempt').map(({ attempt }) => attempt);
    const isRight =
      numbers.length === record.attempts && numbers.every((number, index) => number === index + 1);
    return isRight ? undefined : { expected: `1 to ${record.attempts}`, found: numbers.join(', ') };
  },

  'no attempt after content': ({ log }) => {
    const content = log.events.findIndex(({ isContent }) => isContent);
    const again = log.events.findLastIndex(({ kind }) => kind === 'attempt');
    return content < 0 || again < content
      ? undefined
      : { expected: `no attempt after pos ${content + 1}`, found: `an attempt at pos ${again + 1}` };
  },
};

/** A record keeps no bodies of upstreams. */
function essence(end: RunEnd): string {
  const usage = JSON.stringify(end.usage);
  if (end.kind === 'completed') return `completed ${end.finish} ${usage}`;
  if (end.kind === 'cancelled') return `cancelled ${end.by} ${usage}`;
  const { kind, code, message, retryable } = end.failure;
  return `failed ${kind} ${code} ${retryable} ${usage} ${message}`;
}

export const logRule: Rule = ({ history }) =>
  history.runs.flatMap((run) =>
    Object.entries(ofEachRun).flatMap(([rule, look]): Violation[] => {
      const finding = look(run);
      if (finding === undefined) return [];
      const { runId, marker } = run.record;
      return [{ rule, runId, marker, expected: cut(finding.expected), found: cut(finding.found) }];
    }),
  );
