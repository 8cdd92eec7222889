import { setTimeout as sleep } from 'node:timers/promises';
import { breakThings } from './break-things.ts';
import { playCast } from './cast.ts';
import { collectHistory, stopStage, type Work } from './collect/collect-history.ts';
import { watchFigures } from './collect/watch-figures.ts';
import { type Diary, openDiary } from './diary.ts';
import type { History } from './history/history.ts';
import { drawSchedule } from './schedule.ts';
import { limits, nodeNames, openStage, type Stage } from './stage.ts';
import { wallMs } from './wall.ts';

export interface SoakOptions {
  seed: number;
  /** Of the faults; what comes before and after takes about half a minute more. */
  lastsMs: number;
  /** On a slow machine they go on for so long, until something was seen; undefined: no longer than `lastsMs`. */
  atMostMs?: number;
  signal: AbortSignal;
  onProgress(progress: Progress): void;
}

export interface Progress {
  elapsedMs: number;
  asks: number;
  faults: number;
  troubles: number;
  last: string;
}

const warmUpMs = 3_000;
const lookEveryMs = 2_000;

/**
 * Plays one soak from an empty directory to its history, and leaves nothing behind.
 * @throws the signal's reason when it is aborted
 */
export async function playSoak(options: SoakOptions): Promise<History> {
  const { seed, lastsMs, signal } = options;
  const diary = openDiary();
  const startedAtMs = wallMs();
  const stage = await openStage(diary, lastsMs + 10 * 60_000);
  const work = { seed, diary, figures: watchFigures(stage), startedAtMs };
  const stopLooking = lookNowAndThen(work, options);
  try {
    const chaosMs = await disturb(stage, work, options);
    const history = await collectHistory(stage, work, chaosMs);
    signal.throwIfAborted();
    return await stopStage(stage, { history, figures: work.figures });
  } finally {
    stopLooking();
    await stage.world.close();
  }
}

/** Gives how long it took. */
async function disturb(stage: Stage, { seed, diary, figures }: Work, options: SoakOptions): Promise<number> {
  const { lastsMs, atMostMs = lastsMs, signal } = options;
  const over = new AbortController();
  const callers = playCast(stage, { seed, diary, signal: AbortSignal.any([over.signal, signal]) });
  await sleep(warmUpMs, undefined, { signal });
  figures.takeBaseline();
  const schedule = drawSchedule({ seed, lastsMs: atMostMs, nodes: nodeNames, ...limits });
  const beganAt = performance.now();
  await breakThings(stage, schedule, {
    diary,
    signal,
    isOver: (atMs) => atMs >= lastsMs && hasSeenMuch(diary),
  });
  const chaosMs = performance.now() - beganAt;
  signal.throwIfAborted();
  over.abort();
  await callers;
  return chaosMs;
}

/** Enough for a soak of seconds, with something to spare. */
function hasSeenMuch({ asks, faults }: Diary): boolean {
  const whole = asks.filter(({ outcome }) => outcome.kind === 'whole');
  const resumed = whole.filter(({ connections }) => connections > 1);
  const cancelled = asks.filter(({ cancel }) => cancel?.answeredAtMs !== undefined);
  const edgeKills = faults.filter(({ victim, act }) => victim === 'edge' && act.kind === 'kill');
  return whole.length >= 60 && resumed.length >= 6 && cancelled.length >= 2 && edgeKills.length >= 1;
}

function lookNowAndThen({ diary, figures, startedAtMs }: Work, { onProgress }: SoakOptions): () => void {
  const timer = setInterval(() => {
    figures.look();
    const last = diary.faults.at(-1);
    onProgress({
      elapsedMs: wallMs() - startedAtMs,
      asks: diary.asks.length,
      faults: diary.faults.length,
      troubles: diary.troubles.length,
      last: last === undefined ? 'none yet' : `${last.victim} ${last.act.kind}`,
    });
  }, lookEveryMs);
  return () => clearInterval(timer);
}
