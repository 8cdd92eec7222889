import { setTimeout as sleep } from 'node:timers/promises';
import type { Program } from '../harness/program.ts';
import type { Diary } from './diary.ts';
import type { Fault, FaultAct } from './history/fault.ts';
import type { FaultNote } from './history/history.ts';
import type { Place, Stage } from './stage.ts';
import { wallMs } from './wall.ts';

/** With all of them away at once there would be nothing to see. */
const mostAtOnce = 2;
const mostStartMs = 60_000;

export interface Breaking {
  diary: Diary;
  signal: AbortSignal;
  /** Asked before each fault, with the time at which it is to happen. */
  isOver(atMs: number): boolean;
}

/**
 * Plays a schedule; resolves when every fault of it is over and its victim is back. What comes while its victim is
 * still on its way back is left out.
 */
export async function breakThings(
  stage: Stage,
  schedule: readonly Fault[],
  { diary, signal, isOver }: Breaking,
): Promise<void> {
  const startedAt = performance.now();
  const wait = (ms: number) => sleep(Math.max(0, ms), undefined, { signal }).catch(() => {});
  const playing = new Set<Promise<void>>();
  const busy = new Set<string>();
  for (const fault of schedule) {
    await wait(fault.atMs - (performance.now() - startedAt));
    if (signal.aborted || isOver(fault.atMs)) break;
    if (busy.has(fault.victim) || busy.size >= mostAtOnce) continue;
    busy.add(fault.victim);
    playing.add(playFault({ stage, fault, diary, wait }).then(() => void busy.delete(fault.victim)));
  }
  await Promise.all(playing);
}

interface Play {
  stage: Stage;
  fault: Fault;
  diary: Diary;
  /** Ends early when the soak does. */
  wait(ms: number): Promise<void>;
}

async function playFault(play: Play): Promise<void> {
  const { stage, fault, diary } = play;
  const note: FaultNote = { ...fault, startedAtMs: wallMs(), endedAtMs: Number.POSITIVE_INFINITY };
  diary.faults.push(note);
  try {
    if (fault.victim === 'edge') await breakEdge(play);
    else await breakNode(play);
  } catch (cause) {
    diary.trouble(`after ${JSON.stringify(fault)}: ${cause instanceof Error ? cause.message : cause}`);
  }
  stage.watchEnds();
  note.endedAtMs = wallMs();
}

async function breakEdge({ stage, fault: { act }, wait }: Play): Promise<void> {
  const { edge } = stage;
  if (act.kind === 'freeze') return freeze(edge.program, () => wait(act.lastsMs));
  if (act.kind !== 'kill' && act.kind !== 'term') throw new Error(`an Edge knows no ${act.kind}`);
  await end(stage, edge.program, act.kind);
  await wait(act.downMs);
  await edge.start();
}

async function breakNode({ stage, fault: { victim, act }, wait }: Play): Promise<void> {
  const place = stage.places.find(({ node }) => node.name === victim);
  if (place === undefined) throw new Error(`there is no Node ${victim}`);
  const { node, proxy } = place;
  switch (act.kind) {
    case 'kill':
    case 'term':
      await end(stage, node.program, act.kind);
      await wait(act.downMs);
      node.start();
      await node.program.line(/"msg":"linked/, mostStartMs).catch(() => {}); // its link may be broken just then
      return;
    case 'freeze':
      return freeze(node.program, () => wait(act.lastsMs));
    case 'cut':
      proxy.cutAll();
      return;
    case 'cut-in-frame':
      await Promise.race([proxy.cutAfter(act.direction, act.bytes), wait(3_000)]);
      proxy.disarm();
      return;
    default:
      return disturb(place, act, () => wait(act.lastsMs));
  }
}

async function disturb(
  { proxy, weather }: Place,
  act: Extract<FaultAct, { kind: 'hold' | 'blackhole' | 'refuse' | 'storm' }>,
  wait: () => Promise<void>,
): Promise<void> {
  if (act.kind === 'storm') {
    weather.storm(act.status);
    await wait();
    weather.storm(undefined);
    return;
  }
  proxy.setMode(act.kind);
  await wait();
  proxy.setMode('pass');
}

async function freeze(program: Program, wait: () => Promise<void>): Promise<void> {
  program.signal('SIGSTOP');
  await wait();
  program.signal('SIGCONT');
}

async function end(stage: Stage, program: Program, kind: 'kill' | 'term'): Promise<void> {
  stage.expectEnd(program);
  if (kind === 'kill') {
    await program.kill();
    return;
  }
  const { code, signal } = await program.stop();
  if (code !== 0) throw new Error(`${program.name} ended after SIGTERM with ${code ?? signal}`);
}
