// F9: the same command many times, at once and late, at every door: one effect; another command under its key is refused.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { chat } from './harness/chat.ts';
import { type Doors, doorNames, openDoors } from './harness/doors.ts';
import { at, openScene, type Scene } from './harness/scene.ts';
import type { Upstream } from './harness/upstream.ts';

const limit = { timeout: 60_000 };
const times = 12;

describe('F9: a command that is given many times', { timeout: 120_000 }, () => {
  let scene: Scene;
  let upstream: Upstream;
  let doors: Doors;
  before(async () => {
    scene = await openScene();
    upstream = at(scene.upstreams, 0);
    doors = await openDoors(scene.edge, { model: 'm', adapter: 'vllm-n1', target: 'm' });
  });
  after(() => scene?.world.close());
  beforeEach(() => {
    upstream.forget();
    upstream.act({ kind: 'stream', chunks: ['done'], delayMs: 100 });
  });

  for (const name of doorNames) {
    test(`${name}: at once and late it is one run; with another body it is refused`, limit, async () => {
      const ask = { prompt: `once ${name}`, key: `key-${name}` };
      const answers = await Promise.all(Array.from({ length: times }, () => doors[name].post(ask)));
      const { runId } = at(answers, 0);
      await scene.edge.runEnded(runId);
      answers.push(await doors[name].post(ask));
      for (const answer of answers) {
        assert.ok(answer.status < 300);
        assert.equal(answer.runId, runId, 'one run');
      }
      const other = await doors[name].post({ ...ask, prompt: `another ${name}` });
      assert.equal(other.status, 409);
      assert.equal(upstream.requests.length, 1);
    });
  }

  test('of an attached run too: all callers get its answer', limit, async () => {
    upstream.act({ kind: 'json', content: 'shared', delayMs: 100 });
    const ask = (prompt: string) =>
      chat(scene.edge, { prompt, headers: { 'idempotency-key': 'attached' } }).answer;
    const answers = await Promise.all(Array.from({ length: times }, () => ask('same')));
    answers.push(await ask('same'));
    for (const answer of answers) {
      assert.equal(answer.status, 200);
      assert.equal(answer.text, at(answers, 0).text);
    }
    assert.equal((await ask('other')).status, 409);
    assert.equal(upstream.requests.length, 1);
  });

  test('the same key at another door, or of another caller, is another command', limit, async () => {
    const ids = new Set<string>();
    for (const name of ['chat', 'operator', 'api'] as const)
      ids.add((await doors[name].post({ prompt: 'mine', key: 'shared' })).runId);
    const headers = { 'idempotency-key': 'shared', 'x-iop-on-disconnect': 'continue' };
    ids.add(String((await chat(scene.edge, { prompt: 'mine', headers }).answer).headers['x-iop-run']));
    assert.equal(ids.size, 4);
    for (const runId of ids) await scene.edge.runEnded(runId);
    assert.equal(upstream.requests.length, 4);
  });
});
