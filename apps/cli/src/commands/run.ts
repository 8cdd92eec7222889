import { text as readAll } from 'node:stream/consumers';
import type { OperatorClient, RunOrder, StartedRun } from '@iop/client';
import { IopError, type RunEnd } from '@iop/domain';
import type { CommandContext } from '@iop/shell/program';
import { withOperator } from '../connection/with-operator.ts';
import { textOption } from '../output/options.ts';
import { printJson } from '../output/print-json.ts';
import { assertCompleted, printUpdates } from '../output/run-printer.ts';

export async function run(context: CommandContext): Promise<void> {
  const prompt = await readPrompt(context);
  const order = toOrder(prompt, context);
  if (context.options.detach === true) return await detach(order, context);
  const end = await withOperator(context, (client) => follow(client, order, context));
  assertCompleted(end);
}

/** Hands the run over and leaves it alone. */
async function detach(order: RunOrder, context: CommandContext): Promise<void> {
  const started = await withOperator(context, (client) => client.startDetached(order));
  if (context.options.json === true) printJson(context.stdout, started);
  else context.stdout.write(`${started.runId}\n`);
}

async function readPrompt({ args, stdin }: CommandContext): Promise<string> {
  const prompt = args[0] === '-' ? await readAll(stdin) : (args[0] ?? '');
  if (prompt.trim() !== '') return prompt;
  throw new IopError({ kind: 'invalid', code: 'usage', message: 'the prompt is empty' });
}

function toOrder(prompt: string, { options }: CommandContext): RunOrder {
  const target = textOption(options.target) ?? '';
  const node = textOption(options.node);
  const idempotencyKey = textOption(options.idempotencyKey);
  const body = { model: target, stream: true, messages: [{ role: 'user', content: prompt }] };
  return {
    adapter: textOption(options.adapter) ?? '',
    target,
    ...(node === undefined ? {} : { node }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    dialect: 'openai.chat',
    body: new TextEncoder().encode(JSON.stringify(body)),
    stream: true,
  };
}

/** Shows a run until its end; a signal cancels it and the end is still waited for. */
async function follow(client: OperatorClient, order: RunOrder, context: CommandContext): Promise<RunEnd> {
  const { signal, stdout, stderr, options } = context;
  const started = await client.startRun(order);
  const cancel = (): void => {
    if (options.json !== true) stderr.write('\ncancelling…\n');
    cancelQuietly(started);
  };
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
  try {
    if (options.json === true) printJson(stdout, { kind: 'started', runId: started.runId });
    return await printUpdates(started.updates, { ...context, signal: neverAborted });
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** A run that ended by itself meanwhile refuses the cancel; a lost link is seen by its reader. */
function cancelQuietly(started: StartedRun): void {
  started.cancel().catch(() => {});
}

/** After a signal the end of the run is still waited for. */
const neverAborted = new AbortController().signal;
