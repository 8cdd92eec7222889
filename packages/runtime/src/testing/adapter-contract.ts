import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunEnd } from '@iop/domain';
import type { Adapter } from '../adapter.ts';
import { isContent } from '../event.ts';
import type { ExecutionSpec } from '../spec.ts';
import { createRecordingSink, type RecordingSink } from './recording-sink.ts';

/**
 * What an adapter's source has to play for the contract:
 * - `short`: a few events, then a whole end
 * - `paced`: small events a few milliseconds apart, for ever
 * - `silent`: takes the work and says nothing, for ever
 * - `flood`: at least 4 MiB as fast as it is read, then a whole end
 * - `cut`: some content, then the source is gone
 * - `refused`: a failure before any content
 * - `garbled`: some content, then bytes that mean nothing
 */
export const adapterScenarios = ['short', 'paced', 'silent', 'flood', 'cut', 'refused', 'garbled'] as const;
export type AdapterScenario = (typeof adapterScenarios)[number];

/** What an adapter's own test hands to the contract. */
export interface AdapterHarness {
  readonly adapter: Adapter;
  /** A fresh spec that makes the source play `scenario`. */
  spec(scenario: AdapterScenario): ExecutionSpec;
  /** Work that is alive at this moment on the source's side: connections in use, armed timers, children. */
  openWork(): number;
  /** Executions that the source has ever begun: looking at it must not raise this. */
  startedWork(): number;
  /** Ends the source; the contract has closed the adapter. */
  close(): Promise<void>;
}

/** One read of a source is at most this (a socket's buffer); see A4. */
const oneReadBytes = 256 * 1024;

/** The suite that every adapter passes; A1–A5 are the invariants of `Adapter`. */
export function adapterContract(name: string, setup: () => Promise<AdapterHarness>): void {
  describe(`${name} keeps the adapter contract`, () => {
    let harness: AdapterHarness;
    beforeEach(async () => {
      harness = await setup();
    });
    afterEach(async () => {
      await harness.adapter.close();
      await harness.close();
    });

    endTests(() => harness);
    cancelTests(() => harness);
    flowTests(() => harness);
    capabilityTests(() => harness);
  });
}

function endTests(harness: () => AdapterHarness): void {
  it('completes a whole answer and has emitted content', async () => {
    const { sink, end } = await run(harness(), 'short');
    assert.equal(end.kind, 'completed', JSON.stringify(end));
    assert.ok(sink.events.some(isContent));
  });

  for (const scenario of ['cut', 'garbled'] as const) {
    it(`A1, A5: fails an answer that is ${scenario} after its first content`, async () => {
      const { sink, end } = await run(harness(), scenario);
      assert.equal(end.kind, 'failed', JSON.stringify(end));
      assert.ok(sink.events.some(isContent));
    });
  }

  it('A1: fails with a code and a message, and without content, when the source refuses', async () => {
    const { sink, end } = await run(harness(), 'refused');
    assert.equal(end.kind, 'failed');
    if (end.kind !== 'failed') return;
    assert.match(end.failure.code, /^[a-z]+\.[a-z-]+$/);
    assert.ok(end.failure.message.length > 0);
    assert.equal(sink.events.filter(isContent).length, 0);
  });

  it('keeps runs apart that go on at the same time', async () => {
    const stop = new AbortController();
    const paced = start(harness(), 'paced', stop.signal);
    await paced.sink.until((sink) => sink.events.some(isContent));
    const [one, two] = await Promise.all([run(harness(), 'short'), run(harness(), 'short')]);
    assert.equal(one.end.kind, 'completed');
    assert.equal(two.end.kind, 'completed');
    const seen = paced.sink.events.length;
    await paced.sink.until((sink) => sink.events.length > seen);
    stop.abort('caller');
    assert.equal((await paced.end).kind, 'cancelled');
  });
}

function cancelTests(harness: () => AdapterHarness): void {
  it('A2: starts nothing when it is cancelled before it begins', async () => {
    const stop = new AbortController();
    stop.abort('caller');
    const { sink, end } = await settled(start(harness(), 'short', stop.signal), harness());
    assert.equal(end.kind, 'cancelled');
    assert.equal(sink.events.length, 0);
    assert.equal(harness().startedWork(), 0);
  });

  it('A2: stops the source at once when it is cancelled before the first event', async () => {
    const stop = new AbortController();
    const silent = start(harness(), 'silent', stop.signal);
    await eventually(() => harness().openWork() === 1, 'the source has the work');
    stop.abort('operator');
    const { end } = await settled(silent, harness());
    assert.deepEqual(end.kind === 'cancelled' && end.by, 'operator');
  });

  it('A2, A3: stops the source in mid-stream and emits nothing afterwards', async () => {
    const stop = new AbortController();
    const paced = start(harness(), 'paced', stop.signal);
    await paced.sink.until((sink) => sink.events.filter(isContent).length >= 3);
    stop.abort('caller');
    const { end } = await settled(paced, harness());
    assert.equal(end.kind, 'cancelled');
    await sleep(60);
    assert.equal(paced.sink.late.length, 0);
  });

  it('A2: stops the source while the reader has no room', async () => {
    const stop = new AbortController();
    const flood = start(harness(), 'flood', stop.signal, createRecordingSink(1));
    await flood.sink.until((sink) => sink.refusals > 0);
    stop.abort('deadline');
    const { end } = await settled(flood, harness());
    assert.deepEqual(end.kind === 'cancelled' && end.by, 'deadline');
  });
}

function flowTests(harness: () => AdapterHarness): void {
  it('A4: reads no more than it has once there is no room, and goes on where it stopped', async () => {
    const whole = await run(harness(), 'flood');
    assert.equal(whole.end.kind, 'completed', JSON.stringify(whole.end));
    assert.ok(whole.sink.sizeBytes >= 4 * 1024 * 1024);

    const slow = start(harness(), 'flood', new AbortController().signal, createRecordingSink(1));
    await slow.sink.until((sink) => sink.refusals > 0);
    await sleep(150);
    assert.ok(slow.sink.sizeBytes <= oneReadBytes, `${slow.sink.sizeBytes} bytes without room`);
    const before = slow.sink.sizeBytes;
    slow.sink.grant(before + 1);
    await slow.sink.until((sink) => sink.sizeBytes > before);
    slow.sink.grant(Number.POSITIVE_INFINITY);
    assert.equal((await slow.end).kind, 'completed');
    assert.equal(slow.sink.sizeBytes, whole.sink.sizeBytes);
  });

  it('gives raw events and texts of at most 64 KiB', async () => {
    const { sink } = await run(harness(), 'flood');
    for (const event of sink.events) {
      if (event.kind === 'raw') assert.ok(event.bytes.length <= 64 * 1024, `${event.bytes.length} bytes`);
      if (event.kind === 'text') assert.ok(event.text.length <= 64 * 1024, `${event.text.length} units`);
    }
  });
}

function capabilityTests(harness: () => AdapterHarness): void {
  it('says what it can execute without loading or running anything', async () => {
    const found = await harness().adapter.capabilities(new AbortController().signal);
    assert.equal(found.healthy, true, found.detail);
    assert.ok(found.targets.length > 0);
    assert.equal(harness().startedWork(), 0);
    assert.equal(harness().openWork(), 0);
  });

  it('answers for its capabilities also when it has no time for them', async () => {
    const stop = new AbortController();
    stop.abort();
    const found = await harness().adapter.capabilities(stop.signal);
    assert.equal(typeof found.healthy, 'boolean');
  });
}

interface Started {
  sink: RecordingSink;
  end: Promise<RunEnd>;
}

function start(
  harness: AdapterHarness,
  scenario: AdapterScenario,
  signal: AbortSignal,
  sink: RecordingSink = createRecordingSink(),
): Started {
  const end = harness.adapter.execute(harness.spec(scenario), sink, signal).then((result) => {
    sink.close();
    return result;
  });
  return { sink, end };
}

async function run(harness: AdapterHarness, scenario: AdapterScenario) {
  const started = start(harness, scenario, new AbortController().signal);
  return { sink: started.sink, end: await within(started.end, 60_000) };
}

/** Waits for the end, and then for the source to have nothing left of it. */
async function settled(started: Started, harness: AdapterHarness) {
  const end = await within(started.end, 5_000);
  await eventually(() => harness.openWork() === 0, 'the source has nothing left of the run');
  return { sink: started.sink, end };
}

function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  const timer = sleep(timeoutMs, undefined, { ref: false });
  const late = timer.then(() => Promise.reject(new Error(`no end within ${timeoutMs} ms`)));
  return Promise.race([promise, late]);
}

async function eventually(condition: () => boolean, what: string, timeoutMs = 5_000): Promise<void> {
  const until = performance.now() + timeoutMs;
  while (!condition()) {
    assert.ok(performance.now() < until, `not within ${timeoutMs} ms: ${what}`);
    await sleep(5);
  }
}
