import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunEvent } from '@iop/wire';
import { type FakeEdge, type FakeLink, mockConfig, resume, startFakeEdge, wireRequest } from './fake-edge.ts';
import { ack, encoded } from './linked-node.ts';
import { createLab, type NodeProcess, startProcess } from './node-process.ts';

const runsOfRound = 24;
const creditBytes = 256 * 1024;

type Transcripts = Map<string, readonly RunEvent[]>;

interface World {
  edge: FakeEdge;
  start(): NodeProcess;
  random(below: number): number;
  /** Ends that were seen and never acked, with all events before them. */
  owed: Transcripts;
}

/** Always the same numbers for a seed, which a failure names. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Takes what the process before has left, and holds it against what that one has sent. */
async function collect({ owed, random }: World, link: FakeLink): Promise<void> {
  const { entries } = await link.next('runInventory');
  const offered = new Map(entries.map((entry) => [entry.runId, entry]));
  for (const [runId, events] of owed) {
    const entry = offered.get(runId);
    assert.ok(entry !== undefined, `the end of ${runId} was sent, and is not on the disk`);
    assert.deepEqual([entry.lastSeq, entry.firstKeptSeq], [events.length, 1]);
  }
  const after = new Map([...owed].map(([runId, events]) => [runId, random(events.length)]));
  const resumed = [...after].map(([runId, afterSeq]) => ({
    runId,
    attempt: 1,
    afterSeq,
    eventCredit: creditBytes,
  }));
  const dropped = entries
    .filter(({ runId }) => !owed.has(runId))
    .map(({ runId, attempt }) => ({ runId, attempt, drop: true }));
  link.send(resume(...resumed, ...dropped));
  for (const [runId, afterSeq] of after) {
    await end(link, runId);
    assert.equal(encoded(link.eventsOf(runId)), encoded(owed.get(runId)?.slice(afterSeq) ?? []));
    link.send(ack(runId, owed.get(runId)?.length ?? 0));
  }
  owed.clear();
}

async function end(link: FakeLink, runId: string): Promise<void> {
  await link.next('runEvents', (batch) => batch.runId === runId && batch.events.at(-1)?.kind.case === 'end');
}

/** Runs that end at different times, killed when some of them have. */
async function killAmidEnds({ owed, random }: World, round: number, link: FakeLink, node: NodeProcess) {
  link.send(mockConfig());
  await link.next('edgeNodeEvent', ({ event }) => event.case === 'capabilitiesChanged');
  const runIds = Array.from({ length: runsOfRound }, (_, at) => `r${round}-${at}`);
  for (const runId of runIds) {
    const script = { text: 'one two three', chunks: 1 + random(5), pace_ms: 1 + random(8) };
    link.send(wireRequest(runId, { runClass: 2, prompt: `<mock>${JSON.stringify(script)}</mock>` }));
  }
  await end(link, runIds[random(runsOfRound)] ?? '');
  await sleep(random(6));
  node.child.kill('SIGKILL');
  await Promise.all([node.exit, link.closed]);
  for (const runId of runIds) {
    const events = link.eventsOf(runId);
    if (events.at(-1)?.kind.case === 'end') owed.set(runId, events);
  }
}

async function createWorld(test: TestContext, seed: number): Promise<World> {
  const edge = await startFakeEdge({ tls: true });
  test.after(() => edge.close());
  const { configFile } = createLab(test, edge);
  const start = () => startProcess(test, 'serve', '--config', configFile);
  return { edge, start, random: createRandom(seed), owed: new Map() };
}

/** F18: whatever end a Node has sent is on its disk, at whatever moment it is killed. */
export function killedNodeScene(rounds: number): void {
  describe('a Node that is killed', () => {
    it('F18, K4: every end that it has sent is delivered again by the next process, with all its events', async (test) => {
      const seed = Date.now() % 1_000_000;
      test.diagnostic(`seed ${seed}`);
      const world = await createWorld(test, seed);
      let ends = 0;
      for (let round = 0; round < rounds; round++) {
        const node = world.start();
        const link = await world.edge.link(round);
        await collect(world, link);
        await killAmidEnds(world, round, link, node);
        ends += world.owed.size;
      }
      test.diagnostic(`${ends} ends in ${rounds} rounds`);
      assert.ok(ends > rounds);
    });
  });
}
