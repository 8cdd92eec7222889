import type { CreateOutcome, LogReader, OpenOutcome, RunCreation, RunCursor } from '../core/door.ts';
import type { Edge } from '../core/edge.ts';
import type { LogEvent } from '../ports/run-log.ts';
import { chat } from './edge-fixture.ts';

/** What a cursor was told. */
export interface CursorView {
  readonly cursor: RunCursor;
  /** In the order of their pos; a test fails on a hole that was not named. */
  readonly events: LogEvent[];
  readonly gaps: [number, number][];
  readonly broken: string[];
  readonly lastPos: number;
  /** Raw bytes and texts. */
  readonly text: string;
}

export interface ViewOptions {
  afterPos?: number;
  owns?: boolean;
  keyId?: string;
  /** False: gives no window back. */
  reads?: boolean;
}

/** Opens a cursor that must be granted. */
export async function openCursor(edge: Edge, runId: string, options: ViewOptions = {}): Promise<CursorView> {
  const reader = createCursorReader(options.afterPos ?? 0);
  const { afterPos = 0, owns = false, keyId } = options;
  const outcome = await edge.open({ runId, afterPos, owns, keyId }, reader.reader);
  if (outcome.kind !== 'opened') throw new Error(`not opened: ${JSON.stringify(outcome)}`);
  const { cursor } = outcome;
  if (options.reads !== false) reader.consume = (sizeBytes) => cursor.consumed(sizeBytes);
  cursor.start();
  return Object.assign(reader.view, { cursor });
}

export function createCursorReader(afterPos = 0): {
  reader: LogReader;
  view: Omit<CursorView, 'cursor'>;
  consume: ((sizeBytes: number) => void) | undefined;
} {
  const events: LogEvent[] = [];
  const gaps: [number, number][] = [];
  const broken: string[] = [];
  let pos = afterPos;
  const made = {
    consume: undefined as ((sizeBytes: number) => void) | undefined,
    reader: {
      push(pushed: readonly LogEvent[], firstPos: number, sizeBytes: number) {
        if (firstPos !== pos + 1) throw new Error(`pos ${firstPos} came after ${pos}`);
        if (events.at(-1)?.kind === 'end') throw new Error('something came after the end');
        pos += pushed.length;
        events.push(...pushed);
        made.consume?.(sizeBytes);
      },
      gap(fromPos: number, toPos: number) {
        if (fromPos !== pos + 1) throw new Error(`a gap from ${fromPos} came after ${pos}`);
        pos = toPos;
        gaps.push([fromPos, toPos]);
      },
      broken: (detail: string) => void broken.push(detail),
    },
    view: {
      events,
      gaps,
      broken,
      get lastPos() {
        return pos;
      },
      get text() {
        return events.map(textOf).join('');
      },
    },
  };
  return made;
}

/** Creates a run that must be taken; detached unless said otherwise. */
export async function createRun(edge: Edge, over: Partial<RunCreation> = {}): Promise<string> {
  const outcome = await tryCreate(edge, over);
  if (outcome.kind !== 'created') throw new Error(`not created: ${JSON.stringify(outcome)}`);
  await nextTurn();
  return outcome.runId;
}

export function tryCreate(edge: Edge, over: Partial<RunCreation> = {}): Promise<CreateOutcome> {
  return edge.create({ ...chat('echo'), runClass: 'detached', ...over });
}

export type { OpenOutcome };

/** Whatever waits for the memory stores goes on. */
export async function nextTurn(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}

function textOf(event: LogEvent): string {
  if (event.kind === 'raw') return new TextDecoder().decode(event.bytes);
  return event.kind === 'text' ? event.text : '';
}
