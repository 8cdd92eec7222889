import type { AliasView, FactView, PlaceView, TargetView } from '@iop/client';
import type { CommandContext } from '@iop/shell/program';
import { withOperator } from '../connection/with-operator.ts';
import { printJson } from '../output/print-json.ts';
import { formatTable, orDash } from '../output/table.ts';

export async function run(context: CommandContext): Promise<void> {
  const targets = await withOperator(context, (client) => client.listTargets());
  if (context.options.json === true) return printJson(context.stdout, { targets });
  context.stdout.write(formatTargets(targets));
}

export function formatTargets(targets: readonly TargetView[]): string {
  if (targets.length === 0) return 'Nothing can be run yet: no Node offers a target. See `iop nodes`.\n';
  const rows = targets.map(
    ({ name, adapter, target, contextLength, facts, running, queued, places, aliases }) => [
      name,
      adapter,
      target,
      orDash(places.map(placeWords).join(' ')),
      contextLength === 0 ? '-' : String(contextLength),
      String(running),
      String(queued),
      orDash(aliases.map(aliasWords).join(' ')),
      orDash(facts.map(factWords).join(' ')),
      places.flatMap(troubleOf).join('; '),
    ],
  );
  const titles = [
    'model',
    'adapter',
    'target',
    'nodes',
    'context',
    'running',
    'queued',
    'aliases',
    'can',
    '',
  ];
  return formatTable(titles, rows);
}

/** `gpu-1`, with its state where that is not ready, and what its upstream is doing where it says. */
function placeWords({ node, state, load }: PlaceView): string {
  const words = state === 'ready' ? [] : [state];
  if (load !== undefined) words.push(`${load.running}+${load.waiting}`);
  return words.length === 0 ? node : `${node}(${words.join(',')})`;
}

/** `fast#2`: the second choice of that alias; `fast#1x3` with its weight. */
function aliasWords({ name, choice, weight }: AliasView): string {
  return weight === 0 ? `${name}#${choice}` : `${name}#${choice}x${weight}`;
}

/** `tools*` was shown by a run; what a target cannot do is marked with a `!`. */
function factWords({ name, holds, measured }: FactView): string {
  return `${holds ? '' : '!'}${name}${measured ? '*' : ''}`;
}

function troubleOf({ node, detail, breaker }: PlaceView): string[] {
  return [detail, breaker].filter((words) => words !== '').map((words) => `${node}: ${words}`);
}
