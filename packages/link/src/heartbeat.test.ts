import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeat } from './heartbeat.ts';
import { createManualClock, type ManualClock } from './testing/manual-clock.ts';

function setup(): { clock: ManualClock; heartbeat: Heartbeat; pings: number[]; silent: number[] } {
  const clock = createManualClock();
  const pings: number[] = [];
  const silent: number[] = [];
  const heartbeat = new Heartbeat(clock, 1000, {
    ping: (id) => pings.push(id),
    silent: (silentMs) => silent.push(silentMs),
  });
  heartbeat.start();
  return { clock, heartbeat, pings, silent };
}

test('a silent peer is dead after exactly three intervals, and no timer is left (L8)', () => {
  const { clock, silent } = setup();
  clock.advance(2999);
  assert.deepEqual(silent, []);
  clock.advance(1);
  assert.deepEqual(silent, [3000]);
  assert.equal(clock.pending, 0);
});

test('death is counted from the last frame, not from the last ping (L8)', () => {
  const { clock, heartbeat, silent } = setup();
  clock.advance(1500);
  heartbeat.heard();
  clock.advance(2999);
  assert.deepEqual(silent, []);
  clock.advance(1);
  assert.deepEqual(silent, [3000]);
});

test('any frame keeps a peer alive for ever (L8)', () => {
  const { clock, heartbeat, silent } = setup();
  for (let count = 0; count < 1000; count++) {
    clock.advance(900);
    heartbeat.heard();
  }
  assert.deepEqual(silent, []);
});

test('time in which this process stood still is not held against the peer (L8)', () => {
  const { clock, silent } = setup();
  clock.advance(500);
  clock.freeze(120_000);
  assert.deepEqual(silent, []);
  clock.advance(2999);
  assert.deepEqual(silent, []);
  clock.advance(1);
  assert.deepEqual(silent, [3000]);
});

test('the first ping leaves at once and a pong gives the round trip', () => {
  const { clock, heartbeat, pings } = setup();
  assert.deepEqual(pings, [1]);
  clock.advance(3);
  heartbeat.pong(1);
  assert.equal(heartbeat.roundTripUs, 3000);
  heartbeat.pong(99);
  assert.equal(heartbeat.roundTripUs, 3000);
});

test('a probe kills a peer that does not answer in time, and no other (L11)', () => {
  const answering = setup();
  answering.heartbeat.probe(200);
  answering.heartbeat.heard();
  answering.clock.advance(300);
  assert.deepEqual(answering.silent, []);
  const dead = setup();
  dead.heartbeat.probe(200);
  dead.clock.advance(200);
  assert.equal(dead.silent.length, 1);
  assert.equal(dead.clock.pending, 0);
});

test('after stop there is no timer', () => {
  const { clock, heartbeat } = setup();
  heartbeat.probe(100);
  heartbeat.stop();
  assert.equal(clock.pending, 0);
});
