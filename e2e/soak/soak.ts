import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../harness/eventually.ts';
import { seededRandom } from '../harness/random.ts';
import { breakThings } from './break-things.ts';
import { askAndLeave, askAttached } from './callers/attached.ts';
import { type Caller, keepAsking, makeCaller } from './callers/caller.ts';
import { askDetachedChat } from './callers/detached-chat.ts';
import { operate, withOperator } from './callers/operator.ts';
import { askRepeatedly } from './callers/repeater.ts';
import { askInBackground } from './callers/responses.ts';
import { readEffects } from './collect/effects.ts';
import { listAll, readRuns } from './collect/read-runs.ts';
import { addReplays } from './collect/replays.ts';
import { checkStores } from './collect/stores.ts';
import { type FigureWatch, processesNaming, watchFigures } from './collect/watch-figures.ts';
import { type Diary, openDiary } from './diary.ts';
import type { History } from './history/history.ts';
import { drawSchedule } from './schedule.ts';
import { limits, nodeNames, openStage, type Stage } from './stage.ts';
import { hashOf } from './upstream-weather.ts';
import { wallMs } from './wall.ts';

export interface SoakOptions {
  seed: number;
  /** Of the chaos; what comes before and after takes about half a minute more. */
  lastsMs: number;
  /** Ends it early; what was seen until then is given. */
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

const casts: readonly { name: string; count: number; play(caller: Caller): Promise<void> }[] = [
  { name: 'attached', count: 3, play: askAttached },
  { name: 'leaver', count: 2, play: askAndLeave },
  { name: 'detached', count: 2, play: askDetachedChat },
  { name: 'background', count: 2, play: askInBackground },
  { name: 'repeater', count: 2, play: askRepeatedly },
  { name: 'operator', count: 2, play: operate },
];

const warmUpMs = 3_000;
const lookEveryMs = 2_000;
/** The longest time in which every run must have ended by itself: waits, losses and answers together. */
const calmMs = 60_000;

/** Plays one soak from an empty directory to its history, and leaves nothing behind. */
export async function playSoak(options: SoakOptions): Promise<History> {
  const diary = openDiary();
  const startedAtMs = wallMs();
  const stage = await openStage(diary, options.lastsMs + 10 * 60_000);
  const figures = watchFigures(stage);
  const stopLooking = lookNowAndThen(options, { diary, figures, startedAtMs });
  try {
    const chaosMs = await disturb(stage, { diary, figures, options });
    const history = await collect(stage, { diary, figures, startedAtMs, chaosMs, seed: options.seed });
    return await stop(stage, { history, figures });
  } finally {
    stopLooking();
    await stage.world.close();
  }
}

interface Work {
  diary: Diary;
  figures: FigureWatch;
}

async function disturb(
  stage: Stage,
  { diary, figures, options }: Work & { options: SoakOptions },
): Promise<number> {
  const { seed, lastsMs, signal } = options;
  const over = new AbortController();
  const end = AbortSignal.any([over.signal, signal]);
  const callers = casts.flatMap(({ name, count, play }) =>
    Array.from({ length: count }, (_nothing, index) => {
      const full = `${name}${index}`;
      const random = seededRandom(hashOf(`${seed} ${full}`));
      return keepAsking(makeCaller(full, { stage, diary, random, seed }), play, end);
    }),
  );
  await sleep(warmUpMs);
  figures.takeBaseline();
  const schedule = drawSchedule({ seed, lastsMs, nodes: nodeNames, ...limits });
  const beganAt = performance.now();
  await breakThings(stage, schedule, { diary, signal });
  const chaosMs = performance.now() - beganAt;
  over.abort();
  await Promise.all(callers);
  return chaosMs;
}

/** After the last fault: every Node is back, every run ends. */
async function collect(
  stage: Stage,
  {
    diary,
    figures,
    startedAtMs,
    chaosMs,
    seed,
  }: Work & { startedAtMs: number; chaosMs: number; seed: number },
): Promise<History> {
  await stage.edge.nodesReady(nodeNames, 90_000).catch((cause: Error) => diary.trouble(cause.message));
  const openRuns = await untilCalm(stage);
  await addReplays(stage, diary.asks);
  const runs = await readRuns(stage);
  figures.look();
  return {
    seed,
    startedAtMs,
    endedAtMs: wallMs(),
    chaosMs,
    limits,
    faults: diary.faults,
    asks: diary.asks,
    runs,
    effects: readEffects(stage),
    troubles: diary.troubles,
    left: {
      openRuns,
      openUpstreams: stage.places.reduce((sum, { upstream }) => sum + upstream.open(), 0),
      programs: figures.programs(),
      processes: [],
      stores: [],
    },
  };
}

/** Gives what is still open when patience ends. */
async function untilCalm(stage: Stage): Promise<string[]> {
  let open: string[] = [];
  await eventually('all runs have ended and all upstreams are closed', calmMs, async () => {
    const runs = await withOperator(stage, listAll);
    open = runs.filter(({ end }) => end === undefined).map(({ runId, state }) => `${runId} is ${state}`);
    return open.length === 0 && stage.places.every(({ upstream }) => upstream.open() === 0);
  }).catch(() => {});
  return open;
}

async function stop(
  stage: Stage,
  { history, figures }: { history: History; figures: FigureWatch },
): Promise<History> {
  const programs = [...stage.places.map(({ node }) => node.program), stage.edge.program];
  for (const program of programs) {
    stage.expectEnd(program);
    await program.stop();
  }
  const dirs = [stage.edge.stateDir, ...stage.places.map(({ node }) => node.stateDir)];
  const stores = dirs
    .flatMap(checkStores)
    .map((store) => ({ ...store, walBytes: figures.walBytes.get(store.file) ?? 0 }));
  const processes = processesNaming(stage.world.dir);
  return { ...history, left: { ...history.left, stores, processes } };
}

function lookNowAndThen(
  { onProgress }: SoakOptions,
  { diary, figures, startedAtMs }: Work & { startedAtMs: number },
): () => void {
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
