import type { TargetView } from '@iop/client';
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
  const rows = targets.map(({ name, adapter, target, nodes, running, queued }) => [
    name,
    adapter,
    target,
    orDash(nodes.join(',')),
    String(running),
    String(queued),
  ]);
  return formatTable(['model', 'adapter', 'target', 'nodes', 'running', 'queued'], rows);
}
