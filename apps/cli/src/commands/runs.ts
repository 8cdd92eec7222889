import type { RunView } from '@iop/client';
import { IopError, type RunState, runStates } from '@iop/domain';
import { nearest } from '@iop/shell';
import type { CommandContext } from '@iop/shell/program';
import { withOperator } from '../connection/with-operator.ts';
import { endWords } from '../output/end-words.ts';
import { numberOption, textOption } from '../output/options.ts';
import { printJson } from '../output/print-json.ts';
import { formatTable, orDash } from '../output/table.ts';
import { formatAge, formatLength } from '../output/time.ts';
import { runIdOf } from './run-id.ts';

export async function run(context: CommandContext): Promise<void> {
  const [runId] = context.args;
  if (runId !== undefined) return showRun(context, runId);
  const { options, stdout } = context;
  const limit = numberOption(options.limit, '--limit', [1, 1_000]);
  const states = parseStates(textOption(options.state));
  const runs = await withOperator(context, (client) => client.listRuns({ limit, states }));
  if (options.json === true) return printJson(stdout, { runs });
  stdout.write(runs.length === 0 ? emptyWords(states) : formatRuns(runs, Date.now()));
}

async function showRun(context: CommandContext, runId: string): Promise<void> {
  const id = runIdOf(runId);
  const view = await withOperator(context, (client) => client.findRun(id));
  if (context.options.json === true) return printJson(context.stdout, { run: view });
  context.stdout.write(formatRun(view, Date.now()));
}

/** Everything about one run, a line each. */
export function formatRun(view: RunView, nowMs: number): string {
  const lines: readonly (readonly [string, string])[] = [
    ['run', view.runId],
    ['state', view.stopCause === '' ? view.state : `${view.state}, asked to stop by ${view.stopCause}`],
    ['class', view.stored && view.runClass === 'attached' ? 'attached, stored' : view.runClass],
    ['asked for', orDash(view.model)],
    ['target', `${view.adapter}/${view.target}`],
    ['node', orDash(view.node)],
    ['why there', orDash(view.route)],
    ['attempts', String(view.attempts)],
    ['door', view.door],
    ['key', orDash(view.keyId)],
    ['created', formatAge(view.createdAtMs, nowMs)],
    ['took', tookWords(view, nowMs)],
    ['tokens', usageWords(view)],
    ['events', String(view.lastPos)],
    ['end', orDash(view.end?.kind === 'completed' ? view.end.finish : endWords(view.end))],
  ];
  const stale = view.stale === '' ? [] : [['too late', view.stale] as const];
  return `${[...lines, ...stale].map(([title, value]) => `${title.padEnd(10)}  ${value}`).join('\n')}\n`;
}

function usageWords({ end }: RunView): string {
  if (end?.usage === undefined) return '-';
  const { promptTokens, completionTokens, estimated } = end.usage;
  return `${promptTokens} prompt, ${completionTokens} completion${estimated ? ' (estimated)' : ''}`;
}

function emptyWords(states: readonly RunState[]): string {
  if (states.length > 0) return `No run is ${states.join(' or ')}.\n`;
  return 'No run yet. Start one: iop run --adapter mock --target echo "Hello"\n';
}

export function formatRuns(runs: readonly RunView[], nowMs: number): string {
  const rows = runs.map((view) => [
    view.runId,
    view.state,
    `${view.adapter}/${view.target}`,
    orDash(view.node),
    view.runClass,
    view.door,
    formatAge(view.createdAtMs, nowMs),
    tookWords(view, nowMs),
    endWords(view.end),
  ]);
  return formatTable(['run', 'state', 'target', 'node', 'class', 'door', 'created', 'took', ''], rows);
}

function tookWords({ startedAtMs, endedAtMs }: RunView, nowMs: number): string {
  return startedAtMs === undefined ? '-' : formatLength((endedAtMs ?? nowMs) - startedAtMs);
}

export function parseStates(text: string | undefined): RunState[] {
  const words = (text ?? '').split(',').map((word) => word.trim());
  return words.filter((word) => word !== '').map(parseState);
}

function parseState(word: string): RunState {
  const state = runStates.find((known) => known === word);
  if (state !== undefined) return state;
  const near = nearest(word, runStates);
  const hint = near === undefined ? `states are ${runStates.join(', ')}` : `did you mean ${near}?`;
  throw new IopError({ kind: 'invalid', code: 'usage', message: `--state: no run is ever ${word}; ${hint}` });
}
