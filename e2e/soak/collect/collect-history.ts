import { eventually } from '../../harness/eventually.ts';
import { withOperator } from '../callers/link-operator.ts';
import type { Diary } from '../diary.ts';
import type { History } from '../history/history.ts';
import { limits, nodeNames, type Stage } from '../stage.ts';
import { wallMs } from '../wall.ts';
import { readEffects } from './effects.ts';
import { listAll, readRuns } from './read-runs.ts';
import { addReplays } from './replays.ts';
import { checkStores } from './stores.ts';
import { type FigureWatch, processesNaming } from './watch-figures.ts';

/** The longest time in which every run must have ended by itself: waits, losses and answers together. */
const calmMs = 60_000;

export interface Work {
  seed: number;
  diary: Diary;
  figures: FigureWatch;
  startedAtMs: number;
}

/** After the last fault: every Node is back, every run ends. */
export async function collectHistory(
  stage: Stage,
  { diary, figures, startedAtMs, seed }: Work,
  chaosMs: number,
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

/** Ends all programs; what they leave behind is the end of the history. */
export async function stopStage(
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
