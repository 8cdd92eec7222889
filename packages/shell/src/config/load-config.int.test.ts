import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type IopError, isIopError } from '@iop/domain';
import { z } from 'zod';
import { defineConfig } from './declaration.ts';
import { type ConfigInput, loadConfig, parseSettings } from './load-config.ts';
import { durationMs, hostPort, port, section, sizeBytes } from './pieces.ts';

const declaration = defineConfig({
  program: 'iop-edge',
  envPrefix: 'IOP_EDGE_',
  schema: z.strictObject({
    name: z.string(),
    state_dir: z.string().default('/var/lib/x'),
    http: section({
      port: port.default(7480),
      cors_origins: z.array(z.string()).default([]),
      body_limit: sizeBytes.default(32 * 2 ** 20),
    }),
    edge: z.object({ address: hostPort }).optional(),
    adapters: z
      .array(
        z.discriminatedUnion('kind', [
          z.strictObject({ kind: z.literal('mock'), name: z.string() }),
          z.strictObject({ kind: z.literal('vllm'), name: z.string(), base_url: z.url() }),
        ]),
      )
      .default([]),
    labels: z.record(z.string(), z.string()).default({}),
    limits: section({ queue_wait: durationMs.default(60_000) }),
    log: section({ level: z.enum(['debug', 'info']).default('info') }),
  }),
});

const dir = mkdtempSync(join(tmpdir(), 'iop-config-'));
after(() => rmSync(dir, { recursive: true }));

function load(text: string, more: Omit<ConfigInput, 'file'> = {}) {
  const file = join(dir, 'edge.yaml');
  writeFileSync(file, text);
  return loadConfig(declaration, { file, ...more });
}

function refusal(text: string, more: Omit<ConfigInput, 'file'> = {}): IopError {
  try {
    load(text, more);
  } catch (reason) {
    assert.ok(isIopError(reason), String(reason));
    assert.equal(reason.code, 'config.invalid');
    return reason;
  }
  return assert.fail('the configuration was taken');
}

test('what a file leaves out has its default', () => {
  const config = load('name: lab\n');
  assert.equal(config.http.port, 7480);
  assert.equal(config.http.body_limit, 33_554_432);
  assert.equal(config.limits.queue_wait, 60_000);
  assert.equal(config.log.level, 'info');
  assert.deepEqual(config.adapters, []);
});

test('durations, sizes and addresses are read with their units', () => {
  const config = load(
    'name: lab\nhttp: { body_limit: 64KiB }\nlimits: { queue_wait: 2m }\nedge: { address: "[::1]:74" }\n',
  );
  assert.equal(config.http.body_limit, 65_536);
  assert.equal(config.limits.queue_wait, 120_000);
  assert.deepEqual(config.edge?.address, { host: '::1', port: 74 });
});

test('a flag beats the environment, which beats the file', () => {
  const file = 'name: lab\nhttp: { port: 1 }\nlog: { level: info }\n';
  const env = { IOP_EDGE_HTTP_PORT: '2', IOP_EDGE_LOG_LEVEL: 'debug', IOP_EDGE_UNRELATED: 'x' };
  const config = load(file, { env, flags: parseSettings('http.port=3') });
  assert.equal(config.http.port, 3);
  assert.equal(config.log.level, 'debug');
});

test('text from outside becomes what the key wants', () => {
  const env = {
    IOP_EDGE_NAME: '123',
    IOP_EDGE_HTTP_CORS_ORIGINS: 'http://a, http://b',
    IOP_EDGE_LIMITS_QUEUE_WAIT: '5s',
  };
  const config = load('', { env });
  assert.equal(config.name, '123');
  assert.deepEqual(config.http.cors_origins, ['http://a', 'http://b']);
  assert.equal(config.limits.queue_wait, 5_000);
});

test('a wrong value is named with file, line, key and what was expected', () => {
  const error = refusal('name: lab\nhttp:\n  port: "abc"\n');
  assert.match(error.message, /edge\.yaml:3:9: http\.port: expected a number, got "abc"/);
  assert.deepEqual({ line: error.details.line, path: error.details.path }, { line: 3, path: 'http.port' });
});

test('a wrong value from the environment or a flag names its variable or flag', () => {
  assert.match(
    refusal('name: lab\n', { env: { IOP_EDGE_LOG_LEVEL: 'loud' } }).message,
    /^IOP_EDGE_LOG_LEVEL: log\.level: expected one of debug, info, got "loud"/,
  );
  assert.match(
    refusal('name: lab\n', { flags: { 'http.port': '70000' } }).message,
    /^--set: http\.port: expected at most 65535/,
  );
  assert.match(
    refusal('name: lab\n', { flags: { 'htp.port': '1' } }).message,
    /--set: htp\.port: unknown key; did you mean http\.port\?/,
  );
});

test('an unknown key is an error that names its line and the nearest known key', () => {
  const error = refusal('name: lab\nhttp: { prot: 1 }\nadaptors: []\n');
  assert.match(error.message, /2 problems/);
  assert.match(error.message, /edge\.yaml:2:9: http\.prot: unknown key; did you mean port\?/);
  assert.match(error.message, /edge\.yaml:3:1: adaptors: unknown key; did you mean adapters\?/);
});

test('an unknown key is found in an object that is not strict, too', () => {
  assert.match(
    refusal('name: a\nedge: { address: "h:1", adress: "h:2" }\n').message,
    /edge\.adress: unknown key; did you mean address/,
  );
});

test('the keys of a list entry are those of its kind', () => {
  const error = refusal('name: a\nadapters:\n  - { kind: mock, name: m, base_url: http://x }\n');
  assert.match(error.message, /edge\.yaml:3:28: adapters\[0\]\.base_url: unknown key/);
  assert.match(
    refusal('name: a\nadapters: [{ kind: mok, name: m }]\n').message,
    /adapters\[0\]\.kind: expected one of mock, vllm, got "mok"/,
  );
});

test('a missing key is named at the place where it belongs', () => {
  assert.match(
    refusal('name: a\nadapters:\n  - { kind: vllm, name: m }\n').message,
    /edge\.yaml:3:5: adapters\[0\]\.base_url: missing; expected/,
  );
  assert.match(refusal('# nothing\n').message, /name: missing; expected text/);
});

test('a duration without a unit is refused, except 0', () => {
  assert.match(
    refusal('name: a\nlimits: { queue_wait: 15 }\n').message,
    /expected a duration such as 300ms, 15s or 2m, got 15/,
  );
  assert.equal(load('name: a\nlimits: { queue_wait: 0 }\n').limits.queue_wait, 0);
});

test('what is not YAML is refused with its line', () => {
  assert.match(refusal('name: lab\nhttp: {\n').message, /edge\.yaml:\d+:\d+: not valid YAML/);
  assert.match(
    refusal('name: a\nname: b\n').message,
    /edge\.yaml:2:1: not valid YAML: Map keys must be unique/,
  );
  assert.match(refusal('- a\n').message, /expected keys and values/);
});

test('a file that is not there is named', () => {
  assert.throws(
    () => loadConfig(declaration, { file: join(dir, 'none.yaml') }),
    /none\.yaml: there is no such file/,
  );
});

test('a file that multiplies itself by aliases is refused, not expanded', () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 9; i++) {
    const [name, from] = [String.fromCharCode(97 + i), String.fromCharCode(96 + i)];
    bomb.push(`${name}: &${name} [${Array(10).fill(`*${from}`).join(', ')}]`);
  }
  assert.match(refusal(bomb.join('\n')).message, /alias/i);
});

test('a value that may be a secret is not repeated', () => {
  const secret = defineConfig({ program: 'x', envPrefix: 'X_', schema: z.object({ api_key: z.int() }) });
  assert.throws(
    () => loadConfig(secret, { flags: { api_key: 'hunter2' } }),
    (error: Error) => !error.message.includes('hunter2'),
  );
});
