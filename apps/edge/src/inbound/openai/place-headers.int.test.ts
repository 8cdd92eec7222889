import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hello, openHttpLab } from '../../testing/http-lab.ts';

test('an answer says which Node gave it, by which adapter, and why that one', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.dispatch('gpu-1', 'fast → second choice: the first has no Node up');
    run.dispatch('gpu-7', 'fast → third choice');
    run.chunk({ choices: [] });
    run.complete();
  };
  for (const stream of [false, true]) {
    const { headers } = await lab.chat({ ...hello, stream });
    assert.equal(headers.get('x-iop-run'), lab.edge.runs.at(-1)?.id);
    assert.equal(headers.get('x-iop-node'), 'gpu-7');
    assert.equal(headers.get('x-iop-adapter'), 'vllm');
    assert.equal(headers.get('x-iop-route'), 'fast -> third choice');
  }
});

test('a failure says where it happened', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.dispatch('gpu-7');
    run.fail();
  };
  const { headers } = await lab.chat(hello);
  assert.equal(headers.get('x-iop-node'), 'gpu-7');
  assert.equal(headers.get('x-iop-route'), null);
});

test('names in the reason cannot break the head of the answer', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.dispatch('gpu-7', `모델\r\nx-evil: 1${'y'.repeat(400)}`);
    run.complete();
  };
  const { headers } = await lab.chat(hello);
  const route = headers.get('x-iop-route') ?? '';
  assert.match(route, /^\?\?\?\?x-evil: 1y+\.\.\.$/);
  assert.equal(route.length, 256);
  assert.equal(headers.get('x-evil'), null);
});
