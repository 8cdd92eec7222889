import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../testing/manual-clock.ts';
import type { Exchange } from './exchange.ts';
import { Outlet } from './outlet.ts';

/** A connection that takes as much as the test says, and an outlet before it. */
function setUp() {
  const clock = createManualClock();
  const written: string[] = [];
  const consumed: number[] = [];
  let isFull = false;
  let drained = () => {};
  const exchange = {
    hasBegun: false,
    isOver: false,
    writeHead: () => {
      exchange.hasBegun = true;
    },
    write(pieces: readonly Uint8Array[], whenDrained: () => void) {
      written.push(Buffer.concat(pieces).toString());
      drained = whenDrained;
      return !isFull;
    },
    end(last?: Uint8Array) {
      written.push(`${last === undefined ? '' : Buffer.from(last).toString()}|end`);
    },
  };
  const outlet = new Outlet({
    exchange: exchange as unknown as Exchange,
    clock,
    fields: [],
    consumed: (sizeBytes) => consumed.push(sizeBytes),
  });
  const push = (text: string) => {
    outlet.push(Buffer.from(text));
    outlet.owe(text.length);
  };
  const fill = (full: boolean) => {
    isFull = full;
  };
  return { clock, exchange, outlet, push, fill, drain: () => drained(), written, consumed };
}

test('what is pushed in one tick leaves in one write, and its window comes back', () => {
  const { clock, push, written, consumed } = setUp();
  push('a');
  push('bc');
  assert.deepEqual(written, []);
  clock.settle();
  assert.deepEqual([written, consumed], [['abc'], [3]]);
});

test('U1: a full connection gives no window back, and takes nothing more, until it has drained', () => {
  const { clock, push, fill, drain, written, consumed } = setUp();
  fill(true);
  push('abc');
  clock.settle();
  push('de');
  clock.settle();
  assert.deepEqual([written, consumed], [['abc'], []]);
  drain();
  assert.deepEqual([written, consumed], [['abc', 'de'], [3]], 'the first part has gone, the second has not');
  fill(false);
  drain();
  assert.deepEqual(consumed, [3, 2]);
});

test('window of events that show nothing comes back without a write, and without a head', () => {
  const { clock, outlet, exchange, written, consumed } = setUp();
  outlet.owe(32);
  clock.settle();
  assert.deepEqual([written, consumed, exchange.hasBegun], [[], [32], false]);
});

test('the end takes along what has not left yet, also while the connection is full', () => {
  const { clock, push, fill, outlet, written } = setUp();
  fill(true);
  push('a');
  clock.settle();
  push('b');
  outlet.finish(Buffer.from('c'));
  clock.settle();
  assert.deepEqual(written, ['a', 'bc|end']);
});

test('nothing is written into an answer that is over', () => {
  const { clock, push, exchange, outlet, written } = setUp();
  push('a');
  exchange.isOver = true;
  clock.settle();
  outlet.finish();
  assert.deepEqual(written, []);
});
