import { text as readAll } from 'node:stream/consumers';
import {
  type OperatorClient,
  type RunOrder,
  type RunUpdate,
  type StartedRun,
  toEventJson,
} from '@iop/client';
import { IopError, type RunEnd } from '@iop/domain';
import type { CommandContext } from '@iop/shell/program';
import { withOperator } from '../connection/with-operator.ts';
import { AnswerPrinter } from '../output/answer-printer.ts';
import { textOption } from '../output/options.ts';
import { printJson } from '../output/print-json.ts';

export async function run(context: CommandContext): Promise<void> {
  const prompt = await readPrompt(context);
  const order = toOrder(prompt, context);
  const end = await withOperator(context, (client) => follow(client, order, context));
  assertCompleted(end);
}

async function readPrompt({ args, stdin }: CommandContext): Promise<string> {
  const prompt = args[0] === '-' ? await readAll(stdin) : (args[0] ?? '');
  if (prompt.trim() !== '') return prompt;
  throw new IopError({ kind: 'invalid', code: 'usage', message: 'the prompt is empty' });
}

function toOrder(prompt: string, { options }: CommandContext): RunOrder {
  const target = textOption(options.target) ?? '';
  const node = textOption(options.node);
  const body = { model: target, stream: true, messages: [{ role: 'user', content: prompt }] };
  return {
    adapter: textOption(options.adapter) ?? '',
    target,
    ...(node === undefined ? {} : { node }),
    dialect: 'openai.chat',
    body: new TextEncoder().encode(JSON.stringify(body)),
    stream: true,
  };
}

/** Shows a run until its end; a signal cancels it and the end is still waited for. */
async function follow(client: OperatorClient, order: RunOrder, context: CommandContext): Promise<RunEnd> {
  const { signal, stderr, options } = context;
  const started = await client.startRun(order);
  const cancel = (): void => {
    if (options.json !== true) stderr.write('\ncancelling…\n');
    cancelQuietly(started);
  };
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
  try {
    return options.json === true ? await printUpdates(started, context) : await printAnswer(started, context);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** A run that ended by itself meanwhile refuses the cancel; a lost link is seen by its reader. */
function cancelQuietly(started: StartedRun): void {
  started.cancel().catch(() => {});
}

async function printUpdates(started: StartedRun, { stdout }: CommandContext): Promise<RunEnd> {
  printJson(stdout, { kind: 'started', runId: started.runId });
  for await (const update of started.updates) {
    printJson(stdout, toLine(update));
    if (update.kind === 'end') return update.end;
  }
  throw noEnd();
}

function toLine(update: RunUpdate): unknown {
  return update.kind === 'event'
    ? { kind: 'event', pos: update.pos, event: toEventJson(update.event) }
    : update;
}

async function printAnswer(started: StartedRun, { stdout, stderr }: CommandContext): Promise<RunEnd> {
  const printer = new AnswerPrinter(stdout, stderr);
  for await (const update of started.updates) {
    if (update.kind === 'event') printer.event(update.event);
    if (update.kind === 'state') printer.state(update.state);
    if (update.kind !== 'end') continue;
    printer.end(update.end);
    return update.end;
  }
  throw noEnd();
}

function noEnd(): IopError {
  return new IopError({
    kind: 'internal',
    code: 'run.no-end',
    message: 'the updates of the run stopped without an end',
  });
}

function assertCompleted(end: RunEnd): void {
  if (end.kind === 'completed') return;
  if (end.kind === 'failed') throw new IopError(end.failure);
  const message = `the run was cancelled (${end.by})`;
  throw new IopError({ kind: 'cancelled', code: 'run.cancelled', message, details: { by: end.by } });
}
