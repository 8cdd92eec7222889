import { setTimeout as sleep } from 'node:timers/promises';
import type { RunUpdate } from '@iop/client';
import { type DoorName, type Doors, send, toResponseId } from './doors.ts';
import type { Edge } from './edge.ts';
import type { Call } from './http.ts';
import { openClient } from './operator.ts';

/** A run as one door shows it, put together over as many connections as it takes. */
export interface Followed {
  /** Ends the connection that there is; the next one goes on behind the last whole event. */
  cut(): void;
  /** All events up to the last, as this door writes them. */
  readonly whole: Promise<string[]>;
}

interface Following {
  edge: Edge;
  doors: Doors;
  runId: string;
}

export function follow(name: DoorName, following: Following): Followed {
  if (name === 'operator') return followWire(following);
  return followStream(following, streams[name]);
}

interface Stream {
  /** @param last what `cursorOf` found in the newest event */
  path(runId: string, last: string): string;
  headers(last: string): Record<string, string>;
  cursorOf: RegExp;
  isLast: RegExp;
}

const fromEventId = (last: string): Record<string, string> => (last === '' ? {} : { 'last-event-id': last });

const streams: Record<Exclude<DoorName, 'operator'>, Stream> = {
  chat: {
    path: (runId) => `/v1/chat/completions/${runId}`,
    headers: fromEventId,
    cursorOf: /^id: (\d+)$/m,
    isLast: /^data: (\[DONE\]|\{"error")/m,
  },
  responses: {
    path: (runId, last) =>
      `/v1/responses/${toResponseId(runId)}?stream=true${last === '' ? '' : `&starting_after=${last}`}`,
    headers: () => ({}),
    cursorOf: /"sequence_number":(\d+)/,
    isLast: /^event: response\.(completed|failed|incomplete|cancelled)$/m,
  },
  api: {
    path: (runId) => `/api/v1/runs/${runId}/events`,
    headers: (last) => ({ accept: 'text/event-stream', ...fromEventId(last) }),
    cursorOf: /^id: (\d+)$/m,
    isLast: /^event: stop$/m,
  },
};

function followStream({ edge, doors, runId }: Following, stream: Stream): Followed {
  const events: string[] = [];
  let current: Call | undefined;
  async function read(): Promise<string[]> {
    const until = performance.now() + 60_000;
    while (!stream.isLast.test(events.at(-1) ?? '')) {
      if (performance.now() > until) throw new Error(`it did not end: ${events.slice(-3).join('\n')}`);
      const last = cursorIn(events, stream.cursorOf);
      const asked = { path: stream.path(runId, last), headers: stream.headers(last) };
      current = send({ edge, secret: doors.secret }, asked);
      const head = await current.head.catch(() => sleep(50));
      await current.answer.catch(() => {});
      if (head === undefined) continue;
      if (head.status !== 200) throw new Error(`${asked.path} answered ${head.status}: ${current.text}`);
      events.push(...wholeEvents(current.text));
    }
    return events;
  }
  const whole = read();
  whole.catch(() => {}); // a story that has failed before does not wait for it
  return { cut: () => void current?.hangUp(), whole };
}

function cursorIn(events: readonly string[], pattern: RegExp): string {
  return events.map((event) => pattern.exec(event)?.[1]).findLast((found) => found !== undefined) ?? '';
}

/** Without comments, and without what was cut in the middle. */
function wholeEvents(text: string): string[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .filter((event) => !event.startsWith(':'));
}

function followWire({ edge, runId }: Following): Followed {
  const events: string[] = [];
  let lastPos = 0;
  let cut = () => {};
  async function readOnce(): Promise<boolean> {
    const client = await openClient(edge);
    cut = () => client.close();
    try {
      const { updates } = await client.watchRun(runId, lastPos);
      for await (const update of updates) {
        if (update.kind === 'state') continue;
        lastPos = update.kind === 'gap' ? update.toPos : update.pos;
        events.push(wordsOf(update));
        if (update.kind === 'end') return true;
      }
    } catch {
      await sleep(50);
    } finally {
      client.close();
    }
    return false;
  }
  async function read(): Promise<string[]> {
    const until = performance.now() + 60_000;
    while (!(await readOnce()))
      if (performance.now() > until) throw new Error(`it did not end; pos ${lastPos}`);
    return events;
  }
  return { cut: () => cut(), whole: read() };
}

function wordsOf(told: Exclude<RunUpdate, { kind: 'state' }>): string {
  if (told.kind === 'gap') return 'gap';
  if (told.kind === 'end') return `${told.pos} end ${JSON.stringify(told.end)}`;
  const { case: kind, value } = told.event.kind;
  return `${told.pos} ${kind} ${kind === 'raw' ? Buffer.from(value.data).toString() : ''}`;
}
