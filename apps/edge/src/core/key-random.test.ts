import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEnd } from '@iop/domain';
import { createEdgeFixture, type EdgeFixture, type StartedRun, settingsOf } from '../testing/edge-fixture.ts';
import { completed, type FakeNode } from '../testing/fake-node.ts';

/** A small generator of numbers that every run of the test repeats. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const broken = (retryable: boolean): RunEnd => ({
  kind: 'failed',
  failure: { kind: 'unavailable', code: 'upstream.status', message: 'no', details: {}, retryable },
});

const open = { targets: [], concurrency: 0, rate: undefined, expiresAtMs: undefined };

test('E2, E16: whatever happens to runs, every place and every place of a key is given back once', async () => {
  for (let seed = 1; seed <= 30; seed++) await playOnce(seed);
});

async function playOnce(seed: number): Promise<void> {
  const random = seeded(seed);
  const limits = { nodeConcurrency: 2, queue: 6, queueWaitMs: 900, stopAfterMs: 400, lostAfterMs: 1500 };
  const fixture = createEdgeFixture(settingsOf({}, { ...limits, breakerFailures: 3, breakerOpenMs: 200 }));
  const nodes = ['a', 'b'].map((name) => fixture.linkNode(name));
  const keys = await Promise.all(
    [1, 2, 0].map(async (concurrency) => (await fixture.edge.createKey('k', { ...open, concurrency })).key),
  );
  const runs: StartedRun[] = [];
  for (let step = 0; step < 150; step++) {
    act({ fixture, random, nodes, runs, keyIds: keys.map((key) => key.id) });
    assertCounts(fixture, runs, keys);
  }
  for (const name of ['a', 'b']) fixture.linkNode(name, { instance: `last ${seed}` });
  for (const run of runs) if (run.end === undefined) run.cancel('operator');
  fixture.clock.advance(200_000);
  assert.ok(
    runs.every((run) => run.end !== undefined),
    `seed ${seed}`,
  );
  assertCounts(fixture, runs, keys);
  assert.equal(fixture.edge.gauges().runsActive, 0);
  assert.equal(fixture.edge.gauges().runsQueued, 0);
  assert.equal(fixture.clock.pending, 0, 'no timer is left');
}

interface Scene {
  fixture: EdgeFixture;
  random: () => number;
  nodes: readonly FakeNode[];
  runs: StartedRun[];
  keyIds: readonly string[];
}

function act({ fixture, random, nodes, runs, keyIds }: Scene): void {
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const given = pick(nodes.flatMap((node) => node.given.filter((attempt) => !attempt.forgotten).slice(-4)));
  const dice = random();
  if (dice < 0.4) tryStart(fixture, runs, pick(keyIds) ?? '');
  else if (dice < 0.5) given?.say('x');
  else if (dice < 0.65) endOnce(given, completed);
  else if (dice < 0.78) endOnce(given, broken(random() < 0.7));
  else if (dice < 0.86) pick(runs.filter((run) => run.end === undefined))?.cancel('caller');
  else if (dice < 0.89) fixture.cut(pick(['a', 'b']) ?? 'a');
  else if (dice < 0.94)
    fixture.linkNode(pick(['a', 'b']) ?? 'a', { instance: random() < 0.5 ? 'one' : String(random()) });
  else fixture.clock.advance(random() * 700);
}

function tryStart(fixture: EdgeFixture, runs: StartedRun[], keyId: string): void {
  try {
    runs.push(fixture.start({ keyId }));
  } catch (reason) {
    assert.match(String(reason), /refused/);
  }
}

function endOnce(attempt: FakeNode['given'][number] | undefined, end: RunEnd): void {
  if (attempt === undefined) return;
  attempt.end(end);
  attempt.forgotten = true;
}

function assertCounts(
  fixture: EdgeFixture,
  runs: readonly StartedRun[],
  keys: readonly { id: string }[],
): void {
  const live = runs.filter((run) => run.end === undefined);
  const stored = fixture.edge.listKeys();
  for (const { id } of keys) {
    const key = stored.find((each) => each.id === id);
    assert.ok(key);
    const holding = live.filter((run) => run.places.length > 0 && keyOf(fixture, run) === id).length;
    assert.equal(fixture.edge.keyStanding(key).running, holding);
    const limit = key.policy?.concurrency ?? 0;
    assert.ok(limit === 0 || holding <= limit, `${holding} of ${limit}`);
  }
  const places = fixture.edge.listNodes().reduce((sum, node) => sum + node.running, 0);
  assert.ok(places <= live.filter((run) => run.places.length > 0).length);
}

function keyOf({ records }: EdgeFixture, run: StartedRun): string | undefined {
  return records.saved.find((record) => record.runId === run.id)?.keyId;
}
