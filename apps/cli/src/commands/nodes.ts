import type { AdapterView, NodeView } from '@iop/client';
import type { CommandContext } from '@iop/shell/program';
import { withOperator } from '../connection/with-operator.ts';
import { printJson } from '../output/print-json.ts';
import { formatTable, orDash } from '../output/table.ts';
import { formatAge } from '../output/time.ts';

export async function run(context: CommandContext): Promise<void> {
  const nodes = await withOperator(context, (client) => client.listNodes());
  if (context.options.json === true) return printJson(context.stdout, { nodes });
  context.stdout.write(formatNodes(nodes, Date.now()));
}

export function formatNodes(nodes: readonly NodeView[], nowMs: number): string {
  if (nodes.length === 0) {
    return 'No Node is known yet. A Node joins with the node.token and the pin of this Edge: `iop-node serve --config node.yaml`.\n';
  }
  const rows = nodes.map((node) => [
    node.name,
    node.state,
    String(node.running),
    adapterWords(node.adapters),
    node.state === 'away' ? formatAge(node.lastSeenMs, nowMs) : 'now',
    node.detail,
  ]);
  return formatTable(['node', 'state', 'running', 'adapters', 'seen', ''], rows);
}

/** What works first, with its number of targets; what does not is named while it is little. */
function adapterWords(adapters: readonly AdapterView[]): string {
  const up = adapters.filter((adapter) => adapter.healthy);
  const down = adapters.filter((adapter) => !adapter.healthy).map(({ name }) => name);
  const words = up.map(({ name, targets }) => `${name}(${targets.length})`);
  if (down.length > 0) words.push(down.length > 2 ? `+ ${down.length} down` : `down: ${down.join(', ')}`);
  return orDash(words.join(' '));
}
