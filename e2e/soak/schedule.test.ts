import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lengthMs } from './history/fault.ts';
import { drawSchedule } from './schedule.ts';

const init = { lastsMs: 600_000, nodes: ['n1', 'n2', 'n3'], lostAfterMs: 3_000, detachedLostAfterMs: 20_000 };

test('a seed has one schedule, and another seed another', () => {
  assert.deepEqual(drawSchedule({ ...init, seed: 7 }), drawSchedule({ ...init, seed: 7 }));
  assert.notDeepEqual(drawSchedule({ ...init, seed: 7 }), drawSchedule({ ...init, seed: 8 }));
});

test('ten minutes have every kind of fault at every victim that knows it', () => {
  const faults = drawSchedule({ ...init, seed: 3 });
  const seen = new Set(faults.map(({ victim, act }) => `${victim === 'edge' ? 'edge' : 'node'} ${act.kind}`));
  const atNodes = ['kill', 'term', 'freeze', 'cut', 'cut-in-frame', 'hold', 'blackhole', 'refuse', 'storm'];
  const expected = [...atNodes.map((kind) => `node ${kind}`), 'edge kill', 'edge term', 'edge freeze'];
  assert.deepEqual([...seen].toSorted(), expected.toSorted());
});

test('a soak of seconds kills Edge and Nodes', () => {
  for (let seed = 0; seed < 50; seed++) {
    const faults = drawSchedule({ ...init, seed, lastsMs: 20_000 });
    const kills = faults.filter(({ act }) => act.kind === 'kill').map(({ victim }) => victim);
    assert.ok(kills.includes('edge') && kills.some((victim) => victim !== 'edge'), `seed ${seed}`);
  }
});

test('faults of one victim do not overlap, and all are over when the time is', () => {
  const over = new Map<string, number>();
  for (const { victim, atMs, act } of drawSchedule({ ...init, seed: 5 })) {
    assert.ok(atMs >= (over.get(victim) ?? 0));
    over.set(victim, atMs + lengthMs(act));
    assert.ok(atMs + lengthMs(act) <= init.lastsMs);
  }
});
