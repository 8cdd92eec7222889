import type { EdgeDoor, OpenOutcome, RunCreation, RunReader } from '../../core/door.ts';
import { CursorReader } from './cursor-reader.ts';
import type { Exchange } from './exchange.ts';
import type { HttpPort } from './http-port.ts';
import type { RunOwner } from './run-owner.ts';
import { createToRefusal, openToRefusal } from './to-http.ts';

/** An answer that is made of a run. */
export interface RunAnswer extends RunReader {
  readonly owner: RunOwner;
  /** The request was refused after all. */
  discard(): void;
}

export type RunStarter = Pick<EdgeDoor, 'start' | 'create' | 'open' | 'mayStore'>;

interface Kept {
  edge: Pick<EdgeDoor, 'create' | 'open'>;
  exchange: Exchange;
  port: Pick<HttpPort, 'guard'>;
}

/** Starts a run that is committed first, or finds the one that its key started, and shows it from its log. */
export async function startKept(
  { edge, exchange, port }: Kept,
  { answer, creation }: { answer: RunAnswer; creation: RunCreation },
): Promise<void> {
  const outcome = await edge.create(creation);
  if (outcome.kind !== 'created' && outcome.kind !== 'repeated') {
    answer.discard();
    exchange.refuse(createToRefusal(outcome));
    return;
  }
  const { runId } = outcome;
  exchange.isRepeat = outcome.kind === 'repeated';
  const { keyId } = creation;
  await showRun({ edge, exchange, port }, { answer, runId, keyId });
}

export interface Shown {
  answer: RunAnswer;
  runId: string;
  keyId: string;
}

/** Shows a run to the caller of this exchange, who owns it while it is attached. */
export async function showRun(
  { edge, exchange, port }: Omit<Kept, 'edge'> & { edge: Pick<EdgeDoor, 'open'> },
  shown: Shown,
): Promise<void> {
  const { answer, runId, keyId } = shown;
  const reader = new CursorReader(answer);
  const opened = await edge.open({ runId, afterPos: 0, owns: true, keyId }, reader);
  port.guard(exchange, () => begin(opened, { exchange, answer, reader }));
}

function begin(
  opened: OpenOutcome,
  { exchange, answer, reader }: { exchange: Exchange; answer: RunAnswer; reader: CursorReader },
): void {
  if (opened.kind === 'opened') {
    answer.owner.attach(reader.attach(opened.cursor));
    opened.cursor.start();
    return;
  }
  answer.discard();
  exchange.refuse(openToRefusal(opened));
}
