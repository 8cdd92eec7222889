import { setTimeout as sleep } from 'node:timers/promises';
import type { Program } from '../harness/program.ts';
import type { Diary } from './diary.ts';
import { type Fault, lengthMs } from './history/fault.ts';
import type { FaultNote } from './history/history.ts';
import type { Place, Stage } from './stage.ts';
import { wallMs } from './wall.ts';

/** With all of them away at once there would be nothing to see. */
const mostAtOnce = 2;
const mostStartMs = 60_000;

/**
 * Plays a schedule; resolves when every fault of it is over and its victim is back. What comes while its victim is
 * still on its way back is left out.
 */
export async function breakThings(
  stage: Stage,
  schedule: readonly Fault[],
  { diary, signal }: { diary: Diary; signal: AbortSignal },
): Promise<void> {
  const startedAt = performance.now();
  const playing = new Set<Promise<void>>();
  const busy = new Set<string>();
  for (const fault of schedule) {
    await sleep(Math.max(0, fault.atMs - (performance.now() - startedAt)), undefined, { signal }).catch(
      () => {},
    );
    if (signal.aborted) break;
    if (busy.has(fault.victim) || busy.size >= mostAtOnce) continue;
    busy.add(fault.victim);
    playing.add(playFault(stage, fault, diary).then(() => void busy.delete(fault.victim)));
  }
  await Promise.all(playing);
}

async function playFault(stage: Stage, fault: Fault, diary: Diary): Promise<void> {
  const note: FaultNote = { ...fault, startedAtMs: wallMs(), endedAtMs: Number.POSITIVE_INFINITY };
  diary.faults.push(note);
  try {
    if (fault.victim === 'edge') await breakEdge(stage, fault);
    else await breakNode(stage, fault);
  } catch (cause) {
    diary.trouble(`after ${JSON.stringify(fault)}: ${cause instanceof Error ? cause.message : cause}`);
  }
  stage.watchEnds();
  note.endedAtMs = wallMs();
}

async function breakEdge(stage: Stage, { act }: Fault): Promise<void> {
  const { edge } = stage;
  if (act.kind === 'freeze') return freeze(edge.program, act.lastsMs);
  if (act.kind !== 'kill' && act.kind !== 'term') throw new Error(`an Edge knows no ${act.kind}`);
  await end(stage, edge.program, act.kind);
  await sleep(act.downMs);
  await edge.start();
}

async function breakNode(stage: Stage, { victim, act }: Fault): Promise<void> {
  const place = stage.places.find(({ node }) => node.name === victim);
  if (place === undefined) throw new Error(`there is no Node ${victim}`);
  const { node, proxy } = place;
  switch (act.kind) {
    case 'kill':
    case 'term':
      await end(stage, node.program, act.kind);
      await sleep(act.downMs);
      node.start();
      await node.program.line(/"msg":"linked/, mostStartMs).catch(() => {}); // its link may be broken just then
      return;
    case 'freeze':
      return freeze(node.program, act.lastsMs);
    case 'cut':
      proxy.cutAll();
      return;
    case 'cut-in-frame':
      await Promise.race([proxy.cutAfter(act.direction, act.bytes), sleep(3_000)]);
      proxy.disarm();
      return;
    default:
      return disturb(place, act.kind, act);
  }
}

async function disturb(
  { proxy, weather }: Place,
  kind: 'hold' | 'blackhole' | 'refuse' | 'storm',
  act: Fault['act'],
): Promise<void> {
  if (act.kind === 'storm') weather.storm(act.status);
  else if (kind !== 'storm') proxy.setMode(kind);
  await sleep(lengthMs(act));
  if (act.kind === 'storm') weather.storm(undefined);
  else proxy.setMode('pass');
}

async function freeze(program: Program, lastsMs: number): Promise<void> {
  program.signal('SIGSTOP');
  await sleep(lastsMs);
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
