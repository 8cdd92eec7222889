import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { createTestClock } from '@iop/link/testing';
import { createRecordingSink } from '@iop/runtime/testing';
import type { AdapterConfiguration, Allow } from '../../../ports/adapter-factory.ts';
import { answerStatus, completion, startScriptedUpstream } from '../../../testing/scripted-upstream.ts';
import { chatSpec } from '../../../testing/specs.ts';
import { createVllmFactory } from './vllm-factory.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'iop-vllm-')));
after(() => rmSync(root, { recursive: true }));
const keys = join(root, 'keys');
mkdirSync(keys);
const allow: Allow = { adapters: ['vllm'], programs: [], directories: [keys], hosts: ['127.0.0.1', '::1'] };
const factory = createVllmFactory({ clock: createTestClock() });

function secret(path: string, text = 'sk-1\n'): string {
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function configuration(baseUrl: string, apiKeyFile = ''): AdapterConfiguration {
  const timeouts = { connectTimeoutMs: 0, firstByteTimeoutMs: 0, idleTimeoutMs: 0 };
  return {
    name: 'vllm',
    concurrency: 0,
    targets: [],
    settings: { kind: 'vllm', baseUrl, apiKeyFile, ...timeouts },
  };
}

describe('vllm: its configuration', () => {
  for (const url of [
    'http://127.0.0.1:8000/v1',
    'https://127.0.0.1/v1/',
    'http://[::1]:1/v1',
    'http://2130706433/v1',
  ]) {
    it(`may be ${url}`, () => assert.deepEqual(factory.check(configuration(url), allow), []));
  }

  for (const [url, problem] of [
    ['127.0.0.1:8000', /is not a URL/],
    ['ftp://127.0.0.1/v1', /is not a URL/],
    ['', /is not a URL/],
    [
      'http://example.com/v1',
      /host example\.com is not allowed by node\.yaml \(allow\.hosts: 127\.0\.0\.1, ::1\)/,
    ],
    ['http://169.254.169.254/latest', /not allowed/],
    ['http://127.0.0.1.nip.io/v1', /not allowed/],
    ['http://[::ffff:169.254.169.254]/v1', /not allowed/],
    ['http://user:pass@127.0.0.1/v1', /user name or a password/],
    ['http://127.0.0.1/v1?a=b', /without \? or #/],
  ] as const) {
    it(`may not be ${url || 'empty'}`, () => {
      const problems = factory.check(configuration(url), allow);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', problem);
      assert.doesNotMatch(problems[0] ?? '', /pass@/);
    });
  }

  it('may name a key only inside an allowed directory, and no link leads out of it', () => {
    const inside = secret(join(keys, 'key'));
    const outside = secret(join(root, 'key'));
    symlinkSync(outside, join(keys, 'link'));
    const problemsOf = (file: string) =>
      factory.check(configuration('http://127.0.0.1/v1', file), allow).join();
    assert.equal(problemsOf(inside), '');
    assert.match(problemsOf(outside), /not in a directory that node\.yaml allows/);
    assert.match(problemsOf(join(keys, 'link')), /not in a directory/);
    assert.match(problemsOf(join(keys, '../key')), /not in a directory/);
    assert.match(problemsOf('key'), /not an absolute path/);
    assert.match(problemsOf(keys), /is not a file/);
    assert.match(problemsOf(join(keys, 'missing')), /cannot be read/);
  });

  it('refuses a key that others may read, or that is no key', () => {
    const open = secret(join(keys, 'open'));
    chmodSync(open, 0o644);
    const empty = secret(join(keys, 'empty'), '\n');
    const lines = secret(join(keys, 'lines'), 'a\nb\n');
    const problemsOf = (file: string) =>
      factory.check(configuration('http://127.0.0.1/v1', file), allow).join();
    assert.match(problemsOf(open), /chmod 600/);
    assert.match(problemsOf(empty), /empty/);
    assert.match(problemsOf(lines), /one line/);
  });

  it('gives an adapter that sends the key', async () => {
    const upstream = await startScriptedUpstream({ model: answerStatus(200, completion('hi')) });
    const adapter = factory.create(
      configuration(`${upstream.baseUrl}/`, secret(join(keys, 'used'), 'sk-used\n')),
      allow,
    );
    const signal = new AbortController().signal;
    const end = await adapter.execute(chatSpec('model', { stream: false }), createRecordingSink(), signal);
    assert.equal(end.kind, 'completed', JSON.stringify(end));
    assert.equal(upstream.exchanges[0]?.headers.authorization, 'Bearer sk-used');
    assert.equal(upstream.exchanges[0]?.path, '/v1/chat/completions');
    await adapter.close();
    await upstream.close();
  });

  it('forces a stream, or none, on the targets that it names', async (test) => {
    const upstream = await startScriptedUpstream({ '*': answerStatus(200, completion('hi')) });
    const targets = [
      { name: 'never', forceStream: false },
      { name: 'always', forceStream: true },
      { name: 'as-asked' },
    ].map((target) => ({ concurrency: 0, mockScriptJson: '', cliProfileJson: '', ...target }));
    const adapter = factory.create({ ...configuration(upstream.baseUrl), targets }, allow);
    test.after(async () => {
      await adapter.close();
      await upstream.close();
    });
    for (const { name } of targets) {
      await adapter.execute(chatSpec(name), createRecordingSink(), new AbortController().signal);
      await adapter.execute(
        chatSpec(name, { stream: false }),
        createRecordingSink(),
        new AbortController().signal,
      );
    }
    const asked = upstream.exchanges.map(({ json }) => json.stream);
    assert.deepEqual(asked, [false, false, true, true, true, false]);
  });
});
