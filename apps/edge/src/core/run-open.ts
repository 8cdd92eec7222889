import type { LogEvent, LogPage } from '../ports/run-log.ts';
import type { RunRecord } from '../ports/run-records.ts';
import type { LogReader, OpenOutcome, OpenRequest, RunRef } from './door.ts';
import { hasEnded, type Run, type RunContext, recordOf } from './run.ts';
import { cancelRun } from './run-cancel.ts';
import { Cursor, type CursorSource } from './run-cursor.ts';
import { isVisible, liveRun } from './run-find.ts';
import { storeTrouble } from './store-trouble.ts';

/** Puts a cursor on the log of a run, live or ended. */
export async function openRun(
  ctx: RunContext,
  request: OpenRequest,
  reader: LogReader,
): Promise<OpenOutcome> {
  const live = liveRun(ctx, request);
  if (live !== undefined) return openLive(ctx, live, { request, reader });
  try {
    const record = await ctx.records.find(request.runId);
    const launched = liveRun(ctx, request);
    if (launched !== undefined) return openLive(ctx, launched, { request, reader });
    if (!isVisible(record, request)) return { kind: 'unknown-run' };
    return openEnded(ctx, record, { request, reader });
  } catch (reason) {
    return storeTrouble(reason);
  }
}

interface Opening {
  request: OpenRequest;
  reader: LogReader;
}

function openLive(ctx: RunContext, run: Run, { request, reader }: Opening): OpenOutcome {
  const { afterPos, owns } = request;
  if (hasEnded(run) && afterPos > run.lastPos) return { kind: 'past-end', lastPos: run.lastPos };
  const cursor = new Cursor({ source: liveSource(ctx, run), reader, afterPos, owns });
  run.cursors.add(cursor);
  return { kind: 'opened', cursor, record: recordOf(run) };
}

function liveSource(ctx: RunContext, run: Run): CursorSource {
  return {
    runId: run.id,
    shownPos: () => run.shownPos,
    read(afterPos, limitBytes) {
      if (!run.keepsContent && run.tail !== undefined) return run.tail.read(afterPos);
      return ctx.log.read({ runId: run.id, afterPos, limitBytes });
    },
    closed(cursor) {
      run.cursors.delete(cursor);
      if (cursor.owns) ownerLeft(ctx, run);
    },
  };
}

/** An attached run lives while somebody owns it. */
export function ownerLeft(ctx: RunContext, run: Run): void {
  if (run.runClass === 'detached' || hasEnded(run) || isOwned(run)) return;
  cancelRun(ctx, run, 'caller');
}

export function isOwned(run: Run): boolean {
  if (run.reader !== undefined) return true;
  for (const cursor of run.cursors) if (cursor.owns) return true;
  return false;
}

function openEnded(ctx: RunContext, record: RunRecord, { request, reader }: Opening): OpenOutcome {
  const { lastPos } = record;
  const { afterPos, owns } = request;
  if (afterPos > lastPos) return { kind: 'past-end', lastPos };
  if (afterPos === lastPos) return { kind: 'at-end', record };
  const source = endedSource(ctx, record);
  return { kind: 'opened', cursor: new Cursor({ source, reader, afterPos, owns }), record };
}

function endedSource(ctx: RunContext, record: RunRecord): CursorSource {
  const { runId, lastPos } = record;
  return {
    runId,
    shownPos: () => lastPos,
    async read(afterPos, limitBytes) {
      const page = await ctx.log.read({ runId, afterPos, limitBytes });
      return page.events.length > 0 ? page : { firstPos: lastPos, events: endOf(record) };
    },
    closed() {},
  };
}

export interface ReadRequest extends RunRef {
  afterPos: number;
  /** About so many bytes of events, one event at least. */
  limitBytes: number;
}

/** A page of what a cursor would be given now; undefined: there is no such run. Rejects as `findRun` does. */
export async function readRun(
  ctx: RunContext,
  request: ReadRequest,
): Promise<{ record: RunRecord; page: LogPage } | undefined> {
  const { runId, afterPos, limitBytes } = request;
  const live = liveRun(ctx, request);
  const record = live === undefined ? await ctx.records.find(runId) : recordOf(live);
  if (!isVisible(record, request)) return undefined;
  const source = live === undefined ? endedSource(ctx, record) : liveSource(ctx, live);
  const shownPos = source.shownPos();
  if (afterPos >= shownPos) return { record, page: { firstPos: afterPos + 1, events: [] } };
  const { firstPos, events } = await source.read(afterPos, limitBytes);
  return { record, page: { firstPos, events: events.slice(0, Math.max(0, shownPos - firstPos + 1)) } };
}

/** When the log is gone, the record still says how it ended. */
function endOf({ end }: RunRecord): LogEvent[] {
  return end === undefined ? [] : [{ kind: 'end', end }];
}
