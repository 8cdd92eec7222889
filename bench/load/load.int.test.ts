import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { listeningPort } from '../machine/child.ts';
import { runClosedLoop } from './closed-loop.ts';
import { runFirstToken } from './first-token.ts';
import { Holder } from './hold.ts';
import type { Place } from './messages.ts';
import { runStreams } from './streams.ts';

let mock: ChildProcess;
let place: Place;

before(async () => {
  mock = fork(new URL('../mock/server.ts', import.meta.url), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const port = await listeningPort(mock, 'mock');
  place = { port, path: '/v1/chat/completions', headers: {}, pids: [process.pid] };
});

after(async () => {
  mock.kill();
  await once(mock, 'exit');
});

test('a closed loop counts whole answers and the CPU time of the tree', async () => {
  const result = await runClosedLoop({
    kind: 'closed-loop',
    place,
    connections: 4,
    bodyBytes: 10_240,
    warmMs: 20,
    windowMs: 100,
  });
  assert.equal(result.failed, 0, String(result.problem));
  assert.ok(result.requests > 0 && result.cpuNs > 0);
  assert.equal(result.latencyUs.count, result.requests);
});

test('an answer that is not the mock’s voids a closed loop', async () => {
  const wrong = { ...place, path: '/elsewhere' };
  const result = await runClosedLoop({
    kind: 'closed-loop',
    place: wrong,
    connections: 1,
    bodyBytes: 256,
    warmMs: 0,
    windowMs: 50,
  });
  assert.match(result.problem ?? '', /status 404, not whole/);
});

test('every frame of every stream arrives and is timed', async () => {
  const result = await runStreams({
    kind: 'streams',
    place,
    streams: 20,
    paceMs: 10,
    rampMs: 50,
    windowMs: 200,
  });
  assert.equal(result.failed, 0, String(result.problem));
  assert.equal(result.firstUs.count, 20);
  assert.ok(result.frames > 0 && result.delayUs.p50 >= 0 && result.gapUs.p50 > 5000);
});

test('single streams follow each other on one connection', async () => {
  const result = await runFirstToken({
    kind: 'first-token',
    place,
    count: 3,
    frames: 4,
    paceMs: 2,
    delayMs: 5,
  });
  assert.equal(result.failed, 0, String(result.problem));
  assert.deepEqual([result.firstUs.count, result.frames], [3, 12]);
});

test('held streams stay open until they are released, and end whole', async () => {
  const holder = new Holder();
  const held = await holder.hold({ kind: 'hold', place, streams: 50, paceMs: 20 });
  assert.equal(held.failed, 0, String(held.problem));
  const released = await holder.release({ kind: 'release', mockPort: place.port });
  assert.equal(released.failed, 0, String(released.problem));
});
