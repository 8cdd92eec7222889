import { followRun } from '@iop/client';
import { createSystemClock } from '@iop/shell';
import type { CommandContext } from '@iop/shell/program';
import { connectTo } from '../connection/with-operator.ts';
import { numberOption } from '../output/options.ts';
import { assertCompleted, printUpdates } from '../output/run-printer.ts';
import { formatLength } from '../output/time.ts';
import { runIdOf } from './run-id.ts';

const mostPos = 0xff_ff_ff_ff;

/** Shows a run from its first event to its end; the run does not care whether anybody looks. */
export async function run(context: CommandContext): Promise<void> {
  const { args, options, signal, stderr } = context;
  const runId = runIdOf(args[0]);
  const afterPos = numberOption(options.after, '--after', [0, mostPos]);
  const updates = followRun(runId, afterPos, {
    connect: connectTo(context),
    clock: createSystemClock(),
    random: Math.random,
    signal,
    onLost: ({ message }, delayMs) =>
      stderr.write(`\n${message}\n(the run goes on; trying again in ${formatLength(delayMs)})\n`),
  });
  assertCompleted(await printUpdates(updates, context));
}
