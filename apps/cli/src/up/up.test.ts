import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TargetView } from '@iop/client';
import { readOllamaHost } from './ollama-host.ts';
import { assertNotPart } from './part-command.ts';
import { planUp } from './plan.ts';
import { formatWelcome } from './welcome-words.ts';
import { localAdapters } from './write-configs.ts';

test('the HTTP port is 80 above the wire port', () => {
  const plan = planUp('/var/x', 7400);
  assert.equal(plan.httpUrl, 'http://127.0.0.1:7480');
  assert.equal(plan.wireAddress, '127.0.0.1:7400');
  assert.equal(plan.socketPath, '/var/x/edge/operator.sock');
});

test('a state directory in which no socket fits is refused before anything is made', () => {
  assert.throws(() => planUp(`/tmp/${'x'.repeat(100)}`, 7400), {
    code: 'config.state-dir',
    message: /choose a shorter one/,
  });
});

test('the usual local ports are offered, but never our own', () => {
  const ports = (base: number): string[] =>
    localAdapters(planUp('/x', base), readOllamaHost(undefined)).map((adapter) => adapter.name);
  const others = ['local-1234', 'local-30000', 'ollama'];
  assert.deepEqual(ports(7400), ['local-8000', 'local-8001', 'local-8080', ...others]);
  assert.deepEqual(ports(8000), ['local-8001', ...others]);
  assert.deepEqual(ports(11_354).includes('ollama'), false);
  assert.deepEqual(ports(7920).includes('local-8000'), false);
});

const echo: TargetView = {
  name: 'echo',
  adapter: 'mock',
  target: 'echo',
  nodes: ['local'],
  running: 0,
  queued: 0,
  contextLength: 0,
  facts: [],
  places: [],
  aliases: [],
};

test('the welcome holds the facts and three examples that work as they stand', () => {
  const words = formatWelcome({
    plan: planUp('/home/kim/my state', 7400),
    apiKey: 'iop_a_b',
    targets: [echo],
    agentsNotAsked: [],
    iop: '/home/kim/iop/bin/iop',
    isDefaultStateDir: false,
  });
  assert.match(words, /OpenAI URL {2}http:\/\/127\.0\.0\.1:7480\/v1\n {2}API key {5}iop_a_b\n/);
  assert.match(words, /models {6}echo \(mock\)/);
  assert.match(words, /curl http:\/\/127\.0\.0\.1:7480\/v1\/chat\/completions/);
  assert.match(words, /OPENAI_BASE_URL=http:\/\/127\.0\.0\.1:7480\/v1 OPENAI_API_KEY=iop_a_b node -e '/);
  assert.match(words, /IOP_STATE_DIR='\/home\/kim\/my state' \/home\/kim\/iop\/bin\/iop run/);
});

test('a part can never be another `iop up`', () => {
  assertNotPart({});
  assert.throws(() => assertNotPart({ IOP_UP_PART: 'edge' }), { code: 'up.nested' });
});
