import type { RunEnd } from '@iop/domain';
import type { Ask } from '../history/ask.ts';
import type { Effect, FaultNote, History } from '../history/history.ts';
import type { LoggedEvent, RunStory } from '../history/run-story.ts';
import { type Script, upstreamUsage } from '../history/script.ts';

const startMs = 1_000_000;
const usage = {
  promptTokens: upstreamUsage.prompt,
  completionTokens: upstreamUsage.completion,
  estimated: false,
};
const completed: RunEnd = { kind: 'completed', finish: 'stop', usage };

/** A history in which nothing is wrong: many runs that completed, faults that nobody noticed. Fresh every time. */
export function goodHistory(): History {
  const members = Array.from({ length: 60 }, (_nothing, index) => member(index));
  return {
    seed: 1,
    startedAtMs: startMs,
    endedAtMs: startMs + 60_000,
    chaosMs: 30_000,
    limits: { lostAfterMs: 3_000, detachedLostAfterMs: 20_000, orphanAfterMs: 2_000, stopAfterMs: 3_000 },
    faults: [
      fault('edge', { kind: 'kill', downMs: 100 }, 200_000),
      fault('n1', { kind: 'kill', downMs: 100 }, 200_000),
      fault('n2', { kind: 'cut' }, 200_000),
      fault('n1', { kind: 'cut' }, 5_950),
    ],
    asks: members.flatMap(({ asks }) => asks),
    runs: members.map(({ run }) => run),
    effects: members.map(({ effect }) => effect),
    troubles: [],
    left: {
      openRuns: [],
      openUpstreams: 0,
      processes: [],
      programs: [{ name: 'edge', baseline: idle(), peak: idle(), last: idle() }],
      stores: [{ file: 'edge/state.db', integrity: 'ok', walBytes: 1_000 }],
    },
  };
}

export function fault(victim: string, act: FaultNote['act'], afterMs: number): FaultNote {
  const startedAtMs = startMs + afterMs;
  return { atMs: afterMs, victim, act, startedAtMs, endedAtMs: startedAtMs + 100 };
}

function idle() {
  return { files: 30, residentBytes: 100_000_000 };
}

interface Member {
  run: RunStory;
  asks: Ask[];
  effect: Effect;
}

/** Every third is detached and watched, every fifth has a key that is used twice, and was left by a third caller. */
function member(index: number): Member {
  const marker = `sk1-test-${index}`;
  const text = `${marker}.0 ${marker}.1 `;
  const script: Script = { marker, model: 'm', prompt: '', text, usage: upstreamUsage };
  const isDetached = index % 3 === 0;
  const createdAtMs = startMs + index * 100;
  const runId = `run_${String(index).padStart(26, '0')}`;
  const run = story({ runId, marker, text, createdAtMs, runClass: isDetached ? 'detached' : 'attached' });
  const asks = [ask(script, run, isDetached ? 'chat' : 'responses')];
  if (isDetached) asks.push(watcher(script, run));
  if (index % 5 === 0) {
    for (const one of [ask(script, run, 'chat'), ask(script, run, 'chat')])
      asks.push({ ...one, idempotencyKey: marker });
    asks.push({
      ...ask(script, run, 'chat'),
      outcome: { kind: 'left', atMs: createdAtMs + 10, content: '' },
    });
  }
  const closedAtMs = createdAtMs + 900;
  const effect = { marker, model: 'm', node: 'n1', atMs: createdAtMs, closedAtMs, pieces: 2, plan: 'done' };
  return { run, asks, effect };
}

interface StoryInit {
  runId: string;
  marker: string;
  text: string;
  createdAtMs: number;
  runClass: 'attached' | 'detached';
}

function story({ runId, marker, text, createdAtMs, runClass }: StoryInit): RunStory {
  const events = [
    logged(1, { kind: 'attempt', attempt: 1, node: 'n1' }),
    logged(2, { kind: 'raw', isContent: true, print: text }),
    logged(3, { kind: 'end', end: completed }),
  ];
  const record = {
    runId,
    runClass,
    state: 'completed' as const,
    model: 'm',
    node: 'n1',
    attempts: 1,
    createdAtMs,
    startedAtMs: createdAtMs,
    endedAtMs: createdAtMs + 1_000,
    end: completed,
    lastPos: events.length,
    stale: '',
    marker,
  };
  return { record, log: { firstPos: 1, events, content: text } };
}

export function logged(pos: number, rest: Partial<LoggedEvent>): LoggedEvent {
  return {
    pos,
    kind: 'raw',
    print: `event ${pos}`,
    isContent: false,
    attempt: undefined,
    node: undefined,
    end: undefined,
    ...rest,
  };
}

function ask(script: Script, { record }: RunStory, door: 'chat' | 'responses'): Ask {
  const assembled = `id: 1\ndata: ${script.text}\n\n`;
  return {
    script,
    door,
    runClass: record.runClass,
    stream: true,
    idempotencyKey: undefined,
    startedAtMs: record.createdAtMs,
    endedAtMs: record.createdAtMs + 1_000,
    runId: record.runId,
    ackedAtMs: record.runClass === 'detached' ? record.createdAtMs : undefined,
    connections: 2,
    cancel: { askedAtMs: record.createdAtMs, answeredAtMs: record.createdAtMs + 5, state: 'stopping' },
    outcome: {
      kind: 'whole',
      content: script.text,
      usage: upstreamUsage,
      transcript: { kind: 'bytes', assembled, replay: assembled },
    },
  };
}

function watcher(script: Script, run: RunStory): Ask {
  const events = run.log.events.slice(0, -1).map(({ pos, print }) => ({ pos, print }));
  return {
    ...ask(script, run, 'chat'),
    door: 'operator',
    outcome: {
      kind: 'whole',
      content: script.text,
      usage: upstreamUsage,
      transcript: { kind: 'events', afterPos: 0, events },
    },
  };
}
