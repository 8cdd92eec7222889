import { type RunUpdate, toEventJson } from '@iop/client';
import { IopError, type RunEnd } from '@iop/domain';
import type { CommandContext } from '@iop/shell/program';
import { AnswerPrinter } from './answer-printer.ts';
import { printJson } from './print-json.ts';

/** Shows updates until the end: as lines of JSON, or as an answer on stdout with everything about it on stderr. */
export async function printUpdates(
  updates: AsyncIterable<RunUpdate>,
  { options, stdout, stderr, signal }: CommandContext,
): Promise<RunEnd> {
  const show =
    options.json === true
      ? (update: RunUpdate) => printJson(stdout, toLine(update))
      : showIn(new AnswerPrinter(stdout, stderr));
  for await (const update of updates) {
    show(update);
    if (update.kind === 'end') return update.end;
  }
  if (signal.aborted) throw new IopError({ kind: 'cancelled', code: 'stopped', message: 'stopped' });
  throw new IopError({
    kind: 'internal',
    code: 'run.no-end',
    message: 'the updates of the run stopped without an end',
  });
}

function toLine(update: RunUpdate): unknown {
  return update.kind === 'event' ? { ...update, event: toEventJson(update.event) } : update;
}

function showIn(printer: AnswerPrinter): (update: RunUpdate) => void {
  return (update) => {
    if (update.kind === 'event') printer.event(update.event);
    else if (update.kind === 'state') printer.state(update.state);
    else if (update.kind === 'gap') printer.gap(update);
    else printer.end(update.end);
  };
}

/** A run that did not complete is told by the exit code. */
export function assertCompleted(end: RunEnd): void {
  if (end.kind === 'completed') return;
  if (end.kind === 'failed') throw new IopError(end.failure);
  const message = `the run was cancelled (${end.by})`;
  throw new IopError({ kind: 'cancelled', code: 'run.cancelled', message, details: { by: end.by } });
}
