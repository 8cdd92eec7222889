import type { IopStarted } from './iop.ts';

/** A line of `iop watch --json`. */
export interface WatchLine {
  kind: 'event' | 'gap' | 'end';
  pos: number;
  event?: { kind: string; data?: string; node?: string };
  end?: { kind: string; by?: string };
}

/** What `iop watch --json` has shown so far, whole lines only. */
export function watchLines({ text }: IopStarted): WatchLine[] {
  const lines = text.out.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as WatchLine);
}

/** Each event by pos and kind, with the bytes of raw ones. */
export function transcript(lines: readonly WatchLine[]): string[] {
  return lines.map(({ pos, kind, event, end }) => {
    const what = kind === 'event' ? `${event?.kind} ${event?.data ?? ''}` : `${kind} ${end?.kind ?? ''}`;
    return `${pos} ${what}`;
  });
}

interface WireUpdate {
  run?: {
    firstPos: number;
    events: Record<string, { data?: string; completed?: unknown; cancelled?: unknown }>[];
  };
}

/** The same of a watch of the management API. */
export function sseTranscript(text: string): string[] {
  const blocks = text.split('\n\n').flatMap((block) => /^id: \d+\ndata: (.*)$/m.exec(block)?.[1] ?? []);
  return blocks.flatMap((json) => {
    const { run } = JSON.parse(json) as WireUpdate;
    return (run?.events ?? []).map((event, index) => `${(run?.firstPos ?? 0) + index} ${wordsOf(event)}`);
  });
}

function wordsOf(event: Record<string, { data?: string; completed?: unknown; cancelled?: unknown }>): string {
  const [[kind, value] = ['', {}]] = Object.entries(event);
  if (kind === 'end') return `end ${Object.keys(value)[0]}`;
  return `${kind} ${value.data === undefined ? '' : Buffer.from(value.data, 'base64').toString()}`;
}
