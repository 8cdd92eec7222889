import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimOf, creationOf } from '../../ports/run-orders.contract.ts';
import type { Created } from '../../ports/run-orders.ts';
import { setUpStore } from './store.fixture.ts';

/** Small and repeatable. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const keys = Array.from({ length: 25 }, (_, i) => `key-${i}`);

for (const seed of [1, 2, 3]) {
  test(`O1: one run for each key, whatever comes at once and however often it restarts (seed ${seed})`, async () => {
    const random = createRandom(seed);
    await using world = await setUpStore();
    let store = world.store;
    const winners = new Map<string, string>();
    let created = 0;
    for (let round = 0; round < 5; round++) {
      const asked = Array.from({ length: 100 }, (_, i) => ({
        key: keys[Math.floor(random() * keys.length)] ?? '',
        runId: `run_${round}_${i}`,
      }));
      const outcomes = asked.map(({ key, runId }) =>
        store.orders.create(creationOf(runId, claimOf({ key }))),
      );
      // half of the time it is closed with all of them on their way
      if (random() < 0.5) store = await world.reopen();
      for (const [index, outcome] of (await Promise.all(outcomes)).entries()) {
        const { key, runId } = asked[index] ?? { key: '', runId: '' };
        if (outcome.kind === 'created') {
          assert.equal(winners.get(key), undefined, `${key} was ${winners.get(key)}`);
          winners.set(key, runId);
          created++;
        }
      }
      for (const [index, outcome] of (await Promise.all(outcomes)).entries()) {
        assertClaimed(outcome, winners.get(asked[index]?.key ?? ''));
      }
    }
    const records = await store.records.list({ limit: 1000, states: [], before: undefined });
    assert.deepEqual(records.map(({ runId }) => runId).sort(), [...winners.values()].sort());
    assert.equal(created, winners.size);
  });
}

function assertClaimed(outcome: Created, winner: string | undefined): void {
  if (outcome.kind === 'claimed') assert.equal(outcome.runId, winner);
}
