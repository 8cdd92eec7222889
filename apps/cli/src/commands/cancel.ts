import { isRunEndState, type RunState } from '@iop/domain';
import type { CommandContext } from '@iop/shell/program';
import { withOperator } from '../connection/with-operator.ts';
import { printJson } from '../output/print-json.ts';
import { runIdOf } from './run-id.ts';

export async function run(context: CommandContext): Promise<void> {
  const runId = runIdOf(context.args[0]);
  const state = await withOperator(context, (client) => client.cancelRun(runId));
  if (context.options.json === true) return printJson(context.stdout, { runId, state });
  context.stdout.write(`${runId} ${cancelWords(state)}\n`);
}

export function cancelWords(state: RunState): string {
  if (state === 'cancelled') return 'is cancelled';
  return isRunEndState(state) ? `had already ended: ${state}` : 'is stopping';
}
