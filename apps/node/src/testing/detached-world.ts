import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeptEnd } from '../ports/end-store.ts';
import { type FakeEdge, type FakeLink, mockConfig, resume, startFakeEdge, wireRequest } from './fake-edge.ts';
import { ack, ended, readyLink, startLinkedNode, textOf } from './linked-node.ts';
import { createMemoryEndStore } from './memory-end-store.ts';
import { createMemoryRunStore } from './memory-run-store.ts';

const windowBytes = 256 * 1024;

/** What a Node leaves on its disk, and Nodes that find it there. */
export async function createWorld(test: TestContext) {
  const edge = await startFakeEdge();
  const disk = new Map<string, KeptEnd>();
  const store = createMemoryRunStore();
  return {
    edge,
    disk,
    async start() {
      const ends = createMemoryEndStore(disk);
      return { ends, ...(await startLinkedNode(test, edge, { store, ends })) };
    },
  };
}

export const detached = (runId: string, prompt?: string) =>
  wireRequest(runId, { runClass: 2, ...(prompt === undefined ? {} : { prompt }) });

export const resumed = (runId: string, afterSeq: number, eventCredit = windowBytes) =>
  resume({ runId, attempt: 1, afterSeq, eventCredit });

export async function inventoryOf(edge: FakeEdge, nth: number) {
  const link = await edge.link(nth);
  const { entries } = await link.next('runInventory');
  return {
    link,
    entries: entries.map(({ runId, state, lastSeq, firstKeptSeq }) => ({
      runId,
      state,
      lastSeq,
      firstKeptSeq,
    })),
  };
}

/** Kept, and gone before the Edge has acked it: `seen` is what the Edge got of it. */
export async function endedAndGone(test: TestContext, ackedSeq = 0) {
  const world = await createWorld(test);
  const first = await world.start();
  const link = await readyLink(world.edge);
  link.send(detached('r1'));
  await ended(link, 'r1');
  if (ackedSeq > 0) link.send(ack('r1', ackedSeq));
  const seen = link.eventsOf('r1');
  await first.shutdown();
  return { ...world, seen, text: textOf(link, 'r1') };
}

/** The next link, after this one has been cut; all that was sent on it has been handled by then. */
export async function afterRelink(edge: FakeEdge, nth: number, link: FakeLink) {
  link.send(mockConfig(99));
  await link.next('nodeConfigResult', ({ revision }) => revision === 99);
  link.link.destroy('cut by the test');
  return await inventoryOf(edge, nth);
}

export async function until(isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (!isSo()) {
    if (performance.now() > endMs) throw new Error('not within 20 s');
    await sleep(5);
  }
}
