import type { RunState } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';
import type { LogBatch, LogEvent, OwnEvent } from '../ports/run-log.ts';
import { logEventBytes } from './log-event-bytes.ts';
import { LogTail } from './log-tail.ts';
import { type Run, type RunContext, setState } from './run.ts';

/** What a Node said, as it goes into the log. */
export interface Said {
  events: readonly RuntimeEvent[];
  sizeBytes: number;
  attempt: number;
  lastSeq: number;
  committed?: () => void;
}

/** E23: one pos for each event, in the order in which it is told to whoever looks. */
export function logSaid(ctx: RunContext, run: Run, { events, sizeBytes, ...rest }: Said): void {
  const firstPos = run.lastPos + 1;
  run.lastPos += events.length;
  append(ctx, run, { runId: run.id, firstPos, events, keepContent: run.keepsContent, ...rest }, sizeBytes);
}

/** What the Edge itself has to say. */
export function logOwn(ctx: RunContext, run: Run, event: OwnEvent, committed?: () => void): void {
  const firstPos = ++run.lastPos;
  const batch = {
    runId: run.id,
    firstPos,
    events: [event],
    attempt: 0,
    lastSeq: 0,
    keepContent: run.keepsContent,
  };
  const sizeBytes = event.kind === 'end' ? logEventBytes(event) : ownEventBytes;
  append(ctx, run, committed === undefined ? batch : { ...batch, committed }, sizeBytes);
}

/**
 * E24: of a detached run nobody is shown anything before it is committed. An Edge that is killed gives the pos of what
 * was not to other events, and who had seen it would go on at the wrong place.
 */
function append(ctx: RunContext, run: Run, batch: LogBatch, sizeBytes: number): void {
  if (run.runClass === 'detached') {
    const committed = () => {
      batch.committed?.();
      show(run, batch, sizeBytes);
    };
    ctx.log.append({ ...batch, committed });
    return;
  }
  ctx.log.append(batch);
  if (!run.keepsContent) keepTail(run, batch.events, { firstPos: batch.firstPos, sizeBytes });
  show(run, batch, sizeBytes);
}

function show(run: Run, { events, firstPos }: LogBatch, sizeBytes: number): void {
  run.shownPos = firstPos + events.length - 1;
  for (const cursor of run.cursors) cursor.offer(events, firstPos, sizeBytes);
}

/** A change that whoever looks cannot conclude from other events. */
export function moveRun(ctx: RunContext, run: Run, to: RunState): void {
  if (run.state === to) return;
  setState(run, to);
  logOwn(ctx, run, { kind: 'state', state: to });
}

/** What an event of the Edge itself takes of a cursor's window. */
export const ownEventBytes = 16;

function keepTail(run: Run, events: readonly LogEvent[], at: { firstPos: number; sizeBytes: number }): void {
  run.tail ??= new LogTail();
  run.tail.add(events, at);
}
