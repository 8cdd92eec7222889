import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IopError } from '@iop/domain';
import { createSupervisor, type SupervisorOptions, type SupervisorState } from './supervisor.ts';
import { createTestAcceptor, type TestAcceptor, testDial, until } from './testing/link-host.ts';
import { createManualClock, type ManualClock, settle } from './testing/manual-clock.ts';
import { createMemoryDuplex, type MemoryDuplex } from './testing/memory-duplex.ts';

interface Setup {
  clock: ManualClock;
  host: TestAcceptor;
  duplexes: MemoryDuplex[];
  states: SupervisorState[];
  /** What dialling does instead of reaching the acceptor. */
  fail: Error | undefined;
  options: SupervisorOptions;
  stop: AbortController;
  running: Promise<void>;
}

function start(change: Partial<SupervisorOptions> = {}, fail?: Error): Setup {
  const clock = createManualClock();
  const host = createTestAcceptor({ clock });
  const duplexes: MemoryDuplex[] = [];
  const states: SupervisorState[] = [];
  const stop = new AbortController();
  const setup = { clock, host, duplexes, states, fail, stop } as unknown as Setup;
  const dial = async () => {
    if (setup.fail !== undefined) throw setup.fail;
    const duplex = createMemoryDuplex();
    duplexes.push(duplex);
    host.acceptor.accept(duplex.acceptor);
    return duplex.dialer;
  };
  setup.options = {
    ...testDial({ dial, pins: [host.pin], clock }),
    random: () => 0.999999,
    onState: (state) => states.push(state),
    ...change,
  };
  setup.running = createSupervisor(setup.options).run(stop.signal);
  return setup;
}

const refused = new IopError({
  kind: 'unavailable',
  code: 'link.dial-failed',
  message: 'nobody listens there',
});

async function waits(setup: Setup, count: number): Promise<number[]> {
  const delays: number[] = [];
  for (let attempt = 0; attempt < count; attempt++) {
    await settle();
    const state = setup.states.at(-1);
    assert.equal(state?.kind, 'waiting', JSON.stringify(state));
    if (state?.kind !== 'waiting') break;
    delays.push(Math.round(state.delayMs));
    setup.clock.advance(state.delayMs);
  }
  return delays;
}

async function live(setup: Setup, count: number): Promise<void> {
  await until(() => setup.states.filter((state) => state.kind === 'live').length === count, `link ${count}`);
}

test('it links, and comes back when the link is cut, with a higher epoch each time', async () => {
  const setup = start();
  for (let count = 1; count <= 3; count++) {
    await live(setup, count);
    setup.duplexes.at(-1)?.acceptor.destroy();
    await until(() => setup.states.at(-1)?.kind === 'waiting', 'it waits');
    setup.clock.advance(20_000);
  }
  await live(setup, 4);
  assert.deepEqual(
    setup.host.admitted.map((peer) => peer.hello.lastEpoch),
    [0, 1, 2, 3],
  );
  setup.stop.abort();
  await setup.running;
});

test('it never gives up, and each attempt has exactly one outcome (L12, L13)', async () => {
  const setup = start({}, refused);
  const delays = await waits(setup, 300);
  assert.deepEqual(delays.slice(0, 7), [500, 1000, 2000, 4000, 8000, 16_000, 16_000]);
  assert.ok(delays.every((delay) => delay <= 16_000));
  await settle();
  const connecting = setup.states.filter((state) => state.kind === 'connecting').length;
  const ended = setup.states.filter((state) => state.kind === 'waiting').length;
  assert.deepEqual([connecting, ended], [301, 301]);
  setup.fail = undefined;
  await settle();
  setup.clock.advance(20_000);
  await live(setup, 1);
  setup.stop.abort();
  await setup.running;
});

test('only a minute of live link resets the back-off (L13)', async () => {
  const setup = start({}, refused);
  assert.deepEqual(await waits(setup, 3), [500, 1000, 2000]);
  setup.fail = undefined;
  await settle();
  setup.clock.advance(8_000);
  await live(setup, 1);
  setup.clock.advance(5_000);
  setup.duplexes.at(-1)?.acceptor.destroy();
  await until(() => setup.states.at(-1)?.kind === 'waiting', 'it waits');
  assert.deepEqual(await waits(setup, 1), [8000]);
  await live(setup, 2);
  for (let seconds = 0; seconds < 70; seconds += 5) {
    setup.clock.advance(5_000);
    await settle();
  }
  setup.duplexes.at(-1)?.acceptor.destroy();
  await until(() => setup.states.at(-1)?.kind === 'waiting', 'it waits');
  assert.deepEqual(await waits(setup, 1), [500]);
  setup.stop.abort();
  await setup.running;
});

test('what a Reject or a Goodbye asks for is obeyed (L13)', async () => {
  const setup = start({ random: () => 0 });
  const { decide } = setup.host;
  setup.host.decide = () => ({ kind: 'reject', code: 'edge.busy', message: 'later', retryAfterMs: 7_000 });
  await until(() => setup.states.at(-1)?.kind === 'waiting', 'it was rejected');
  assert.equal(
    setup.clock.nextAtMs === undefined ? 0 : setup.clock.nextAtMs - setup.clock.now() <= 7_000,
    true,
  );
  const state = setup.states.at(-1);
  assert.ok(state?.kind === 'waiting' && state.delayMs === 7_000 && state.last.kind === 'rejected');
  setup.host.decide = decide;
  setup.clock.advance(7_000);
  await live(setup, 1);
  setup.host.links[0]?.link.close('restart', 3_000);
  await until(() => setup.states.at(-1)?.kind === 'waiting', 'it heard Goodbye');
  const last = setup.states.at(-1);
  assert.ok(last?.kind === 'waiting' && last.delayMs === 3_000);
  setup.stop.abort();
  await setup.running;
});

test('told to stop while it waits, dials or shakes hands, it stops at once and leaves no timer (L12)', async () => {
  const waiting = start({}, refused);
  await settle();
  waiting.stop.abort();
  await waiting.running;
  assert.equal(waiting.clock.pending, 0);
  assert.equal(waiting.states.at(-1)?.kind, 'stopped');

  const shaking = start();
  shaking.host.decide = () => new Promise(() => {});
  await settle();
  await settle();
  shaking.stop.abort();
  await shaking.running;
  await until(() => shaking.clock.pending === 0, 'no timer is left');
});

test('told to stop while it is live, it says Goodbye and returns when the link is closed', async () => {
  const setup = start();
  await live(setup, 1);
  setup.stop.abort();
  await setup.running;
  assert.equal((await setup.host.links[0]?.closed)?.kind, 'goodbye');
  await until(() => setup.clock.pending === 0, 'no timer is left');
});

test('a server that does not answer the handshake is left after its time (L3, L12)', async () => {
  const setup = start();
  setup.host.decide = () => new Promise(() => {});
  await settle();
  await settle();
  setup.clock.advance(10_000);
  await until(() => setup.states.at(-1)?.kind === 'waiting', 'it gave this attempt up');
  const state = setup.states.at(-1);
  assert.ok(state?.kind === 'waiting' && state.last.kind !== 'aborted', JSON.stringify(state));
  setup.stop.abort();
  await setup.running;
});

test('a silent server is found out by the heartbeat and the link is made anew (L8)', async () => {
  const setup = start();
  await live(setup, 1);
  setup.duplexes[0]?.blackhole();
  setup.clock.advance(30_000);
  await until(() => setup.states.at(-1)?.kind === 'waiting', 'it noticed');
  const state = setup.states.at(-1);
  assert.ok(state?.kind === 'waiting' && state.last.kind === 'ended' && state.last.outcome.kind === 'silent');
  assert.equal(setup.host.links[0]?.outcome?.kind, 'silent');
  setup.clock.advance(20_000);
  await live(setup, 2);
  setup.stop.abort();
  await setup.running;
});
