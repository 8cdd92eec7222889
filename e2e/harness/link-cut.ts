import { setTimeout as sleep } from 'node:timers/promises';
import type { Direction } from './chaos-proxy.ts';
import { chat } from './chat.ts';
import { at, type Scene } from './scene.ts';

/** What one streamed answer looks like, and how much of it crosses the link, when nothing is cut. */
export interface WholeAnswer {
  text: string;
  bytes: Record<Direction, number>;
}

export interface Cut {
  direction: Direction;
  /** Passed on from the moment of asking. */
  bytes: number;
}

/** Short, so that every byte of it can be tried. */
const chunks = ['a', 'ö', 'c'].map((content) => ({ choices: [{ index: 0, delta: { content } }] }));

function prepare(scene: Scene): void {
  for (const upstream of scene.upstreams) upstream.act({ kind: 'stream', chunks, paceMs: 4 });
}

/** Asks one Node through its own adapter, so that only its link is in play. */
function ask(scene: Scene, index: number) {
  const { name } = at(scene.nodes, index);
  return chat(scene.edge, {
    model: `vllm-${name}/m`,
    stream: true,
    extra: { stream_options: { include_usage: true } },
  });
}

export async function measureLink(scene: Scene, index: number): Promise<WholeAnswer> {
  prepare(scene);
  const proxy = at(scene.proxies, index);
  proxy.resetCounts();
  const { text } = await ask(scene, index).answer;
  return { text, bytes: { ...proxy.passed } };
}

/** One streamed answer of Node `index` while its link is cut; `onCut` is called at the cut. */
export async function playCut(scene: Scene, index: number, cut: Cut, onCut?: () => void): Promise<string> {
  prepare(scene);
  await scene.edge.nodesReady([at(scene.nodes, index).name]);
  const proxy = at(scene.proxies, index);
  const burnt = proxy.cutAfter(cut.direction, cut.bytes);
  const asking = ask(scene, index);
  if (onCut !== undefined) void burnt.then(onCut);
  const { text } = await asking.answer;
  // The frames of two runs of one answer differ by an ack or so: the last offsets may not come.
  // One that came late is not noticed by both sides at once: the next answer must not be asked for before.
  if (!proxy.disarm()) await sleep(60);
  return text;
}

/** `count` offsets spread over the bytes of an answer, the first and last byte among them. */
export function cutOffsets(length: number, count: number): number[] {
  return Array.from({ length: count }, (_nothing, index) =>
    Math.floor(((length - 1) * index) / Math.max(1, count - 1)),
  );
}
