import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consume, createWindow, planWindow, receive, resumeCredit } from './window.ts';

const kib = 1024;

test('a window is given back in quarters, not for every event', () => {
  const window = createWindow(256 * kib);
  receive(window, 100 * kib);
  assert.equal(consume(window, 63 * kib), 0);
  assert.equal(consume(window, 1 * kib), 64 * kib);
  assert.equal(consume(window, 36 * kib), 0);
});

test('no more is given back than arrived', () => {
  const window = createWindow(16 * kib);
  receive(window, 8 * kib);
  assert.equal(consume(window, 1000 * kib), 8 * kib);
  assert.equal(window.heldBytes, 0);
});

test('after a resume the credit is the window less what the owner still holds', () => {
  const window = createWindow(64 * kib);
  receive(window, 40 * kib);
  consume(window, 10 * kib);
  assert.equal(resumeCredit(window), 34 * kib);
  assert.equal(window.owedBytes, 0, 'what was owed is in it');
});

test('an overdrawn window resumes with no credit, never with less', () => {
  const window = createWindow(16 * kib);
  receive(window, 70 * kib);
  assert.equal(resumeCredit(window), 0);
});

test('windows shrink as their sum nears the cap, down to a floor', () => {
  assert.equal(planWindow(256 * kib, 0, 64 * kib * kib), 256 * kib);
  assert.equal(planWindow(256 * kib, 600 * kib, 1000 * kib), 100 * kib);
  assert.equal(planWindow(256 * kib, 990 * kib, 1000 * kib), 16 * kib);
  assert.equal(planWindow(256 * kib, 9000 * kib, 1000 * kib), 16 * kib);
  assert.equal(planWindow(8 * kib, 9000 * kib, 1000 * kib), 8 * kib, 'never above what was wanted');
});
