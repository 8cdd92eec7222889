import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { RunEnd } from '@iop/domain';
import { createTestClock } from '@iop/link/testing';
import type { Adapter, ExecutionSpec } from '@iop/runtime';
import { createRecordingSink } from '@iop/runtime/testing';
import { answerStatus, completion, startScriptedUpstream } from '../../../testing/scripted-upstream.ts';
import { chatSpec } from '../../../testing/specs.ts';
import { createHostGuard, type HostGuard } from '../http-upstream/host-guard.ts';
import { createVllmAdapter } from './vllm-adapter.ts';
import { createVllmFactory } from './vllm-factory.ts';
import { createLab, failureOf } from './vllm-fixture.ts';

const never = new AbortController().signal;
const key = 'sk-of-the-provider';
const asks: Partial<ExecutionSpec>[] = [
  {},
  { stream: false },
  { stream: false, dialect: 'openai.embeddings' },
  { stream: false, dialect: 'openai.raw', raw: { path: 'rerank', contentType: 'application/json' } },
];

/** Something on another address that must never be reached. */
async function startVictim(test: TestContext, host = '127.0.0.2', port = 0) {
  const heard: string[] = [];
  const server = createServer((socket) => {
    heard.push('connected');
    socket.on('data', (data) => heard.push(data.toString()));
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  test.after(() => server.close());
  const address = server.address();
  return { heard, port: typeof address === 'object' && address !== null ? address.port : 0 };
}

function reach(test: TestContext, baseUrl: string, hosts: HostGuard): Adapter {
  const timeouts = { connectTimeoutMs: 2_000, firstByteTimeoutMs: 5_000, idleTimeoutMs: 5_000 };
  const adapter = createVllmAdapter(
    { name: 'vllm', apiKey: key, targets: [], baseUrl, ...timeouts },
    { clock: createTestClock(), hosts },
  );
  test.after(() => adapter.close());
  return adapter;
}

const run = (adapter: Adapter, values: Partial<ExecutionSpec> = {}): Promise<RunEnd> =>
  adapter.execute(chatSpec('model', values), createRecordingSink(), never);

describe('F22: a Node reaches only the upstreams that it is allowed', () => {
  const factory = createVllmFactory({ clock: createTestClock() });
  const allow = { adapters: ['vllm'], programs: [], directories: [], hosts: ['127.0.0.1', 'gpu.lan'] };

  for (const url of [
    'http://169.254.169.254/v1',
    'http://169.254.169.254./v1',
    'http://2852039166/v1',
    'http://0xa9fea9fe/v1',
    'http://0251.0376.0251.0376/v1',
    'http://[::ffff:169.254.169.254]/v1',
    'http://[::ffff:a9fe:a9fe]/v1',
    'http://[::ffff:127.0.0.1]/v1',
    'http://[::1]/v1',
    'http://0/v1',
    'http://127.1.1.1/v1',
    'http://①⑥⑨.254.169.254/v1',
    'http://gpu.lan.evil.example/v1',
    'http://127.0.0.1@169.254.169.254/v1',
    'file:///etc/passwd',
    'gopher://127.0.0.1/v1',
  ]) {
    it(`F22: ${url} is refused when it is configured`, () => {
      const settings = { kind: 'vllm', baseUrl: url, apiKeyFile: '' } as const;
      const timeouts = { connectTimeoutMs: 0, firstByteTimeoutMs: 0, idleTimeoutMs: 0 };
      const configuration = {
        name: 'v',
        concurrency: 0,
        targets: [],
        settings: { ...settings, ...timeouts },
      };
      assert.notDeepEqual(factory.check(configuration, allow), []);
    });
  }

  it('F22: and again when a connection is made, whoever configured it', async (test) => {
    const victim = await startVictim(test);
    const adapter = reach(test, `http://127.0.0.2:${victim.port}/v1`, createHostGuard(['127.0.0.1']));
    for (const values of asks)
      assert.equal(failureOf(await run(adapter, values)).code, 'upstream.host-forbidden');
    assert.equal((await adapter.capabilities(never)).healthy, false);
    assert.deepEqual(victim.heard, []);
  });

  it('F22: a name that is turned to another address between two connections leads nowhere', async (test) => {
    const upstream = await startScriptedUpstream({ model: answerStatus(200, completion('hi')) });
    const victim = await startVictim(test, '127.0.0.2', upstream.port);
    test.after(() => upstream.close());
    const answers: LookupAddress[][] = [];
    const guard = createHostGuard(['gpu.lan', '127.0.0.1'], (_name, _options, done) =>
      done(null, answers.shift() ?? []),
    );
    const adapter = reach(test, `http://gpu.lan:${upstream.port}/v1`, guard);
    answers.push([{ address: '127.0.0.1', family: 4 }]);
    assert.equal((await run(adapter, { stream: false })).kind, 'completed');
    // The warm connection goes, so that the name is asked again.
    await adapter.close();
    for (const turned of [
      '127.0.0.2',
      '169.254.169.254',
      '::ffff:127.0.0.2',
      '::ffff:169.254.169.254',
      '::1',
      '0.0.0.0',
    ]) {
      const again = reach(test, `http://gpu.lan:${upstream.port}/v1`, guard);
      answers.push([{ address: turned, family: turned.includes(':') ? 6 : 4 }]);
      const failure = failureOf(await run(again, { stream: false }));
      assert.equal(failure.code, 'upstream.host-forbidden', turned);
      assert.match(failure.message, /where no upstream may be/);
    }
    assert.deepEqual(victim.heard, []);
    assert.equal(upstream.exchanges.length, 1);
  });

  it('F22: a redirect is not followed, and the key goes nowhere else', async (test) => {
    const victim = await startVictim(test, '127.0.0.1');
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `http://127.0.0.1:${victim.port}/v1/chat/completions`;
      const { upstream, adapter, run } = await createLab(test, answerStatus(status, '', { location }), {
        apiKey: key,
      });
      upstream.models = answerStatus(status, '', { location });
      upstream.metrics = answerStatus(status, '', { location });
      for (const values of asks) {
        const failure = failureOf((await run(values)).end);
        assert.deepEqual([failure.code, failure.retryable], ['upstream.status', false]);
      }
      assert.match((await adapter.capabilities(never)).detail, new RegExp(`answered ${status}`));
      assert.equal(upstream.exchanges.length, asks.length);
      assert.ok(upstream.exchanges.every(({ headers }) => headers.authorization === `Bearer ${key}`));
    }
    assert.deepEqual(victim.heard, []);
  });

  it('F22: nothing in a request names another server', async (test) => {
    const victim = await startVictim(test, '127.0.0.1');
    const url = `http://127.0.0.1:${victim.port}/v1`;
    const { upstream, run } = await createLab(test, answerStatus(200, completion('hi')), { apiKey: key });
    const body = Buffer.from(
      JSON.stringify({ model: url, base_url: url, api_base: url, user: url, messages: [] }),
    );
    for (const values of asks) await run({ ...values, body, target: 'model' });
    for (const path of [
      url,
      `//127.0.0.1:${victim.port}/v1`,
      `@127.0.0.1:${victim.port}`,
      '../../x',
      'a?u=1',
    ]) {
      await run({ ...asks[3], raw: { path, contentType: 'application/json' } });
    }
    assert.equal(upstream.exchanges.length, asks.length);
    assert.ok(upstream.exchanges.every(({ headers }) => headers.host === `127.0.0.1:${upstream.port}`));
    assert.deepEqual(victim.heard, []);
  });
});
