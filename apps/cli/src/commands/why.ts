import type { AttemptView, CandidateView, WhyView } from '@iop/client';
import type { CommandContext } from '@iop/shell/program';
import { withOperator } from '../connection/with-operator.ts';
import { endWords } from '../output/end-words.ts';
import { printJson } from '../output/print-json.ts';
import { orDash } from '../output/table.ts';
import { formatLength } from '../output/time.ts';
import { runIdOf } from './run-id.ts';

export async function run(context: CommandContext): Promise<void> {
  const runId = runIdOf(context.args[0]);
  const why = await withOperator(context, (client) => client.whyRun(runId));
  if (context.options.json === true) return printJson(context.stdout, why);
  context.stdout.write(formatWhy(why));
}

/** A run's story, from what was asked for to its end. */
export function formatWhy({ run, attempts, waiting, changes }: WhyView): string {
  const asked = run.model === '' ? `${run.adapter}/${run.target}` : run.model;
  const lines = [
    line('run', `${run.runId} (${run.runClass}, by the door ${run.door})`),
    line('asked for', asked),
    line('state', run.stopCause === '' ? run.state : `${run.state}, asked to stop by ${run.stopCause}`),
    ...(waiting === '' ? [] : [line('waits', waiting)]),
    ...attempts.flatMap(attemptLines),
    ...changes.map(({ pos, state }) => line('then', `${changeWords[state] ?? state} (pos ${pos})`)),
    ...(run.end === undefined ? [] : [line('end', endLine(run.end))]),
    ...(run.stale === '' ? [] : [line('too late', run.stale)]),
  ];
  return `${lines.join('\n')}\n`;
}

function attemptLines(attempt: AttemptView): string[] {
  const { node, adapter, target, route, waitedMs, candidates, events, failure } = attempt;
  return [
    line(`attempt ${attempt.attempt}`, `${node} ${adapter}/${target} (pos ${attempt.pos})`),
    line('  because', orDash(route)),
    line('  waited', waitedMs === 0 ? 'not at all' : formatLength(waitedMs)),
    ...candidates.map((candidate) => line('  of', candidateWords(candidate))),
    line('  gave', events === 1 ? '1 event' : `${events} events`),
    ...(failure === undefined ? [] : [line('  over', `${failure.code}: ${failure.message}`)]),
  ];
}

function candidateWords({ node, adapter, target, verdict, running, limit }: CandidateView): string {
  const load = limit === 0 ? `${running} running` : `${running} of ${limit} running`;
  return `${node} ${adapter}/${target}: ${verdictWords[verdict] ?? verdict} (${load})`;
}

const verdictWords: Readonly<Record<string, string>> = {
  chosen: 'chosen',
  free: 'free, not chosen',
  busy: 'dropped: full',
  'kept-away': 'dropped: it failed too often, runs are kept away from it',
  'on-trial': 'dropped: one run tries whether it works again',
  'other-dialect': 'dropped: takes no request of this kind',
  'failed-before': 'dropped: this run failed there before',
  away: 'dropped: its Node is not ready',
};

const changeWords: Readonly<Record<string, string>> = {
  unknown: 'the link of its Node went down',
  running: 'it was at work again',
  starting: 'its Node was back',
  queued: 'it went back into the line',
  waiting: 'it waited for an answer of a person',
  stopping: 'it was asked to stop',
};

function endLine(end: NonNullable<WhyView['run']['end']>): string {
  const words = end.kind === 'completed' ? end.finish : endWords(end);
  return `${end.kind}: ${words}`;
}

function line(title: string, value: string): string {
  return `${title.padEnd(10)}  ${value}`;
}
