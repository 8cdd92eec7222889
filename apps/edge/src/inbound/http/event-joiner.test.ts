import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventJoiner, eventLimitBytes } from './event-joiner.ts';

test('a whole event passes untouched', () => {
  const bytes = Buffer.from('data: 1\n\n');
  const joined = new EventJoiner().add(bytes, false);
  assert.equal(joined.kind === 'whole' && joined.bytes, bytes);
});

test('pieces are held until the last one is there', () => {
  const joiner = new EventJoiner();
  assert.equal(joiner.add(Buffer.from('da'), true).kind, 'held');
  assert.equal(joiner.isHolding, true);
  assert.equal(joiner.add(Buffer.from('ta'), true).kind, 'held');
  const joined = joiner.add(Buffer.from(': 1\n\n'), false);
  assert.equal(joined.kind === 'whole' && Buffer.from(joined.bytes).toString(), 'data: 1\n\n');
  assert.equal(joiner.isHolding, false);
});

test('pieces of one event are held up to the limit and no further', () => {
  const joiner = new EventJoiner();
  assert.equal(joiner.add(Buffer.alloc(eventLimitBytes), true).kind, 'held');
  assert.equal(joiner.add(Buffer.alloc(1), false).kind, 'too-large');
});
