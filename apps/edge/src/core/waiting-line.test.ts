import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWaitingLine, type Waiter } from './waiting-line.ts';

function waiter(order: number, model = 'm', excluded: string[] = []): Waiter {
  const select = { kind: 'model', model } as const;
  return { order, demand: { select, dialect: 'openai.chat', excluded }, grant: () => {} };
}

test('E4: the head of each group is the oldest of it', () => {
  const line = createWaitingLine();
  for (const each of [waiter(2), waiter(3), waiter(4, 'other'), waiter(1)]) line.join(each);
  assert.deepEqual(
    line.heads().map((each) => each.order),
    [1, 4],
  );
  assert.equal(line.length, 4);
});

test('E5: whoever leaves is out at once, from any place in the line', () => {
  const line = createWaitingLine();
  const waiters = [waiter(1), waiter(2), waiter(3)];
  for (const each of waiters) line.join(each);
  const [first, middle, last] = waiters;
  assert.ok(first && middle && last);
  assert.equal(line.leave(middle), true);
  assert.equal(line.leave(middle), false);
  assert.equal(line.leave(first), true);
  assert.deepEqual(line.heads(), [last]);
  assert.equal(line.leave(last), true);
  assert.equal(line.length, 0);
  assert.deepEqual(line.heads(), []);
});

test('different exclusions are different wishes', () => {
  const line = createWaitingLine();
  line.join(waiter(1));
  line.join(waiter(2, 'm', ['gpu-1']));
  assert.equal(line.heads().length, 2);
});
