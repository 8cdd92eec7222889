import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createManualClock } from '@iop/link/testing';
import { answerStatus, type Play, startScriptedUpstream } from '../../../testing/scripted-upstream.ts';
import { createHostGuard } from '../http-upstream/host-guard.ts';
import { UpstreamPool } from '../http-upstream/upstream-pool.ts';
import { LoadProbe } from './load-probe.ts';
import { createLab } from './vllm-fixture.ts';

const never = new AbortController().signal;
const busy = answerStatus(200, 'vllm:num_requests_running 2\n', { 'content-type': 'text/plain' });

async function createProbe(test: TestContext, play: Play) {
  const upstream = await startScriptedUpstream({});
  const clock = createManualClock();
  const pool = new UpstreamPool({
    origin: `http://127.0.0.1:${upstream.port}`,
    connector: createHostGuard(['127.0.0.1']).connector(2_000),
  });
  test.after(async () => {
    pool.close();
    await upstream.close();
  });
  let asked = 0;
  const setPlay = (next: Play) => {
    upstream.metrics = (exchange) => {
      asked++;
      return next(exchange);
    };
  };
  setPlay(play);
  const probe = new LoadProbe({ pool, clock, path: '/metrics', headers: ['user-agent', 'test'] });
  return { probe, clock, setPlay, asked: () => asked };
}

describe('vllm: load', () => {
  it('is part of what is known of a healthy upstream, and is asked at the root', async (test) => {
    const { adapter, upstream } = await createLab(test, () => {}, { apiKey: 'secret' });
    let path = '';
    upstream.metrics = (exchange) => {
      path = `${exchange.path} ${exchange.headers.authorization}`;
      return busy(exchange);
    };
    assert.deepEqual((await adapter.capabilities(never)).load, { running: 2, waiting: 0 });
    assert.equal(path, '/metrics Bearer secret');
    upstream.models = answerStatus(500, {});
    assert.equal((await adapter.capabilities(never)).load, undefined);
  });

  for (const [what, play] of [
    ['has none', answerStatus(404, {})],
    ['does not give them (llama.cpp without --metrics)', answerStatus(501, { error: { message: 'no' } })],
    ['means something else by that path', answerStatus(200, '<html>')],
  ] as const) {
    it(`costs a server one request a minute if it ${what}`, async (test) => {
      const { probe, clock, setPlay, asked } = await createProbe(test, play);
      for (let i = 0; i < 5; i++) assert.equal(await probe.read(never), undefined);
      assert.equal(asked(), 1);
      setPlay(busy);
      clock.advance(59_000);
      assert.equal(await probe.read(never), undefined);
      clock.advance(1_000);
      assert.deepEqual(await probe.read(never), { running: 2, waiting: 0 });
    });
  }

  it('stays as it was while the server is too busy to say', async (test) => {
    const { probe, setPlay } = await createProbe(test, busy);
    await probe.read(never);
    setPlay(() => {});
    assert.deepEqual(await probe.read(AbortSignal.timeout(50)), { running: 2, waiting: 0 });
    setPlay(({ socket }) => void socket.destroy());
    assert.equal(await probe.read(never), undefined);
  });
});
