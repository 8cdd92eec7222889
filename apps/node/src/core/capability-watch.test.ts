import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createManualClock, settle } from '@iop/link/testing';
import type { AdapterReport } from './adapter-report.ts';
import { CapabilityWatch } from './capability-watch.ts';

const report = (healthy: boolean, running?: number): AdapterReport => ({
  name: 'vllm',
  kind: 'vllm',
  retry: 'before-content',
  sessions: 'portable',
  dialects: [],
  healthy,
  detail: '',
  targets: [],
  ...(running !== undefined && { load: { running, waiting: 0 } }),
});

function fixture() {
  const clock = createManualClock();
  const state = {
    reports: [report(true)],
    reads: 0,
    told: [] as boolean[],
    loads: [] as number[][],
    aborted: 0,
  };
  const watch = new CapabilityWatch({
    clock,
    intervalMs: 5_000,
    timeoutMs: 4_000,
    read: async (signal) => {
      state.reads++;
      signal.addEventListener('abort', () => state.aborted++, { once: true });
      return state.reports;
    },
    changed: (reports) => state.told.push(reports.every((one) => one.healthy)),
    loadChanged: (loads) => state.loads.push(loads.map((load) => load.running)),
  });
  const pass = async (ms: number) => {
    clock.advance(ms);
    await settle();
  };
  return { watch, clock, state, pass };
}

describe('capability watch', () => {
  it('tells at the start and then only what has changed', async () => {
    const { watch, state, pass } = fixture();
    watch.restart();
    await settle();
    await pass(5_000);
    await pass(5_000);
    assert.equal(state.reads, 3);
    assert.deepEqual(state.told, [true]);
    state.reports = [report(false)];
    await pass(5_000);
    assert.deepEqual(state.told, [true, false]);
  });

  it('looks more often while something is unhealthy', async () => {
    const { watch, state, pass } = fixture();
    state.reports = [report(false)];
    watch.restart();
    await settle();
    state.reports = [report(true)];
    await pass(1_000);
    assert.deepEqual(state.told, [false, true]);
  });

  it('tells anew after a restart, and does not look twice at a time', async () => {
    const { watch, state, pass } = fixture();
    watch.restart();
    watch.restart();
    await settle();
    assert.deepEqual(state.told, [true]);
    watch.restart();
    await settle();
    assert.deepEqual(state.told, [true, true]);
    await pass(5_000);
    assert.equal(state.reads, 4);
  });

  it('looks at once when it is poked, but not again and again', async () => {
    const { watch, state, pass } = fixture();
    watch.restart();
    await settle();
    await pass(600);
    state.reports = [report(false)];
    watch.poke();
    await settle();
    assert.deepEqual(state.told, [true, false]);
    watch.poke();
    await settle();
    assert.equal(state.reads, 2);
  });

  it('tells load by itself, only when it has changed', async () => {
    const { watch, state, pass } = fixture();
    watch.restart();
    await settle();
    assert.deepEqual(state.loads, [], 'nobody needs to hear that there is none');
    for (const running of [3, 3, 4, 4, undefined, undefined]) {
      state.reports = [report(true, running)];
      await pass(5_000);
    }
    assert.deepEqual(state.loads, [[3], [4], []]);
    assert.deepEqual(state.told, [true], 'load is no change of capabilities');
  });

  it('tells load anew to a new link, and at most once a second', async () => {
    const { watch, state, pass } = fixture();
    state.reports = [report(true, 1)];
    watch.restart();
    await settle();
    await pass(600);
    state.reports = [report(true, 2)];
    watch.poke();
    await settle();
    assert.deepEqual(state.loads, [[1]], 'too early');
    await pass(5_000);
    assert.deepEqual(state.loads, [[1], [2]]);
    await pass(5_000);
    watch.restart();
    await settle();
    assert.deepEqual(state.loads, [[1], [2], [2]]);
  });

  it('stops', async () => {
    const { watch, state, pass, clock } = fixture();
    watch.restart();
    watch.stop();
    await settle();
    await pass(20_000);
    assert.deepEqual(state.told, []);
    assert.equal(clock.pending, 0);
  });

  it('gives a look no more than its time', async () => {
    const clock = createManualClock();
    let aborted = false;
    const watch = new CapabilityWatch({
      clock,
      intervalMs: 5_000,
      timeoutMs: 4_000,
      read: (signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            resolve([]);
          });
        }),
      changed: () => {},
      loadChanged: () => {},
    });
    watch.restart();
    clock.advance(4_000);
    await settle();
    assert.equal(aborted, true);
    watch.stop();
  });
});
