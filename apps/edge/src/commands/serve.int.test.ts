import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CreateKeyRequestSchema, create, ListRunsRequestSchema, RunState } from '@iop/wire';
import { createEdgeProcess, type EdgeProcess, runEdge } from '../testing/edge-process.ts';
import { completed } from '../testing/fake-node.ts';
import { createTempDir } from '../testing/temp-dir.ts';
import type { WireNode } from '../testing/wire-node.ts';
import { until } from '../testing/wire-world.ts';

const limit = { timeout: 120_000 };

async function createKey(edge: EdgeProcess): Promise<string> {
  const operator = await edge.operator();
  const answer = await operator.ask({
    case: 'createKey',
    value: create(CreateKeyRequestSchema, { name: 't' }),
  });
  operator.link.close('done');
  return answer.case === 'createKey' ? answer.value.secret : '';
}

async function listRuns(edge: EdgeProcess) {
  const operator = await edge.operator();
  const answer = await operator.ask({ case: 'listRuns', value: create(ListRunsRequestSchema) });
  operator.link.close('done');
  return answer.case === 'listRuns' ? answer.value.runs : [];
}

function ask(edge: EdgeProcess, key: string, stream: boolean): Promise<Response> {
  return fetch(edge.url('/v1/chat/completions'), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'echo', stream, messages: [{ role: 'user', content: 'hi' }] }),
  });
}

/** Linked, and known to callers. */
async function ready(edge: EdgeProcess, key: string): Promise<WireNode> {
  const node = edge.node('a');
  assert.equal((await node.link()).kind, 'linked');
  for (let isUp = false; !isUp; ) {
    const models = await fetch(edge.url('/v1/models'), { headers: { authorization: `Bearer ${key}` } });
    isUp = (await models.text()).includes('"echo"');
  }
  return node;
}

test(
  'init makes identity, tokens and edge.yaml for their owner only, and keeps what is there',
  limit,
  async () => {
    await using dir = await createTempDir();
    const stateDir = join(dir.path, 'edge');
    const first = JSON.parse(runEdge('init', '--state-dir', stateDir, '--name', 'lab', '--json').stdout);
    assert.match(first.pin, /^sha256:[0-9a-f]{64}$/);
    assert.equal(first.created.length, 4);
    for (const file of ['identity.key', 'node.token', 'operator.token', 'edge.yaml']) {
      assert.equal(statSync(join(stateDir, file)).mode & 0o777, 0o600, file);
    }
    assert.equal(statSync(stateDir).mode & 0o777, 0o700);
    const second = JSON.parse(runEdge('init', '--state-dir', stateDir, '--json').stdout);
    assert.equal(second.pin, first.pin);
    assert.deepEqual(second.created, []);
    const checked = runEdge('serve', '--config', first.configFile, '--check');
    assert.equal(checked.code, 0, checked.stderr);
    assert.match(runEdge('init', '--state-dir', stateDir).stdout, /next\n {2}iop-edge serve --config/);
    assert.equal(runEdge('init', '--state-dir', stateDir, '--name', 'No Name').code, 64);
  },
);

test('a wrong edge.yaml is refused with file, line, key and what was expected', limit, async () => {
  await using dir = await createTempDir();
  const file = join(dir.path, 'edge.yaml');
  const check = (text: string) => {
    writeFileSync(file, text);
    const { code, stderr } = runEdge('serve', '--config', file, '--check');
    assert.equal(code, 78, stderr);
    return stderr;
  };
  const head = 'name: lab\nstate_dir: /tmp/x\n';
  assert.match(check(`${head}htpp: {}\n`), /edge\.yaml:3.*htpp.*http/s);
  assert.match(check(`${head}limits: { queue_wait: soon }\n`), /edge\.yaml:3.*limits\.queue_wait.*duration/s);
  assert.match(check(`${head}adapters: [{ name: a, kind: vllm }]\n`), /base_url/);
  assert.match(
    check(`${head}models: [{ name: m, adapter: gone, target: t }]\n`),
    /models\[0\]\.adapter.*name of an adapter/s,
  );
  assert.match(
    check(`${head}models: [{ name: m }]\n`),
    /adapter and target beside it, or fallback, or routes/,
  );
  const alias = (model: string) => check(`${head}adapters: [{ name: a, kind: mock }]\nmodels: [${model}]\n`);
  assert.match(
    alias('{ name: m, fallback: [a/x], routes: [{ name: a/x }] }'),
    /models\[0\]\.routes|models\[0\]\.fallback/,
  );
  assert.match(alias('{ name: m, routes: [{ name: a/x, weight: 0 }] }'), /routes\[0\]\.weight/);
  assert.match(
    alias('{ name: m, routes: [{ name: n }] }, { name: n, fallback: [a/x] }'),
    /n is an alias itself/,
  );
  assert.match(
    alias('{ name: m, routes: [{ name: a/x }, { name: a/x, tier: 2 }] }'),
    /expected each name once/,
  );
  assert.match(check(`${head}http: { host: 0.0.0.0, auth: none }\n`), /loopback only/);
  assert.match(check(`${head}wire: { host: 0.0.0.0, tls: false }\n`), /loopback only/);
  assert.match(check(`${head}http: { tls: { cert: /nowhere/c.pem, key: /nowhere/k.pem } }\n`), /cannot read/);
  assert.match(check(`${head}http: { tls: { cert: c.pem } }\n`), /http\.tls\.key/);
  assert.match(check(`${head}http: { trusted_proxies: [proxy] }\n`), /trusted_proxies.*a network/s);
  assert.match(check(`${head}http: { base_path: iop/ }\n`), /base_path.*such as \/iop/s);
  const twice = 'adapters: [{ name: a, kind: mock }, { name: a, kind: mock }]\n';
  assert.match(check(head + twice), /adapters\[1\]\.name.*no other adapter/s);
});

test('serve wants a state directory that init has made', limit, async () => {
  await using dir = await createTempDir();
  const file = join(dir.path, 'edge.yaml');
  writeFileSync(file, `name: lab\nstate_dir: ${dir.path}/state\n`);
  const { code, stderr } = runEdge('serve', '--config', file);
  assert.equal(code, 78);
  assert.match(stderr, /identity\.key is not there; run `iop-edge init/);
});

test('a request goes through the whole Edge; metrics and the record show it', limit, async () => {
  await using edge = await createEdgeProcess();
  await edge.start();
  const key = await createKey(edge);
  const node = await ready(edge, key);
  const answer = ask(edge, key, false);
  await until('the Node has it', () => node.runs.length === 1);
  const body = '{"id":"x","object":"chat.completion","choices":[]}';
  node.runs[0]?.say(body);
  node.runs[0]?.end(completed);
  const response = await answer;
  assert.equal(response.status, 200);
  assert.equal(await response.text(), body);
  const [record] = await listRuns(edge);
  assert.equal(record?.runId, response.headers.get('x-iop-run'));
  assert.equal(record?.state, RunState.COMPLETED);
  const metrics = await (await fetch(edge.url('/metrics'))).text();
  assert.match(metrics, /^iop_edge_runs_started_total 1$/m);
  assert.match(metrics, /^iop_edge_runs_ended_total\{end="completed",reason="stop"\} 1$/m);
  assert.match(metrics, /^iop_edge_nodes_ready 1$/m);
  assert.match(metrics, /^iop_edge_events_relayed_total 1$/m);
  const ready200 = await fetch(edge.url('/readyz'));
  assert.equal(ready200.status, 200);
});

test(
  'SIGTERM ends an open stream with a reason, says goodbye, keeps the record, and exits 0',
  limit,
  async () => {
    await using edge = await createEdgeProcess({ limits: { drain: '200ms' } });
    await edge.start();
    const key = await createKey(edge);
    const node = await ready(edge, key);
    const answer = ask(edge, key, true);
    await until('the Node has it', () => node.runs.length === 1);
    node.runs[0]?.say('data: {"choices":[]}\n\n');
    const response = await answer;
    const text = response.text();
    edge.signal('SIGTERM');
    await until('the Node is told', () => node.runs[0]?.cancelledBy === 'shutdown');
    node.runs[0]?.end({ kind: 'cancelled', by: 'shutdown' });
    assert.equal(await edge.ended(), 0);
    assert.doesNotMatch(await text, /\[DONE\]/, 'a cut answer does not look whole');
    await until('the Node saw the goodbye', () => node.closed === 'goodbye');
    await edge.start();
    const [record] = await listRuns(edge);
    assert.equal(record?.end?.end.case, 'cancelled');
  },
);

test('SIGTERM ends the Edge in time although a Node does not answer', limit, async () => {
  await using edge = await createEdgeProcess({ limits: { drain: '100ms' } });
  await edge.start();
  const key = await createKey(edge);
  const node = await ready(edge, key);
  const answer = ask(edge, key, false).then((response) => response.status);
  await until('the Node has it', () => node.runs.length === 1);
  const began = performance.now();
  edge.signal('SIGTERM');
  assert.equal(await edge.ended(), 0);
  assert.ok(performance.now() - began < 10_000);
  assert.ok((await answer) >= 500);
});

test(
  'after SIGKILL the record ends as edge.restarted, and the Edge is the same to everybody',
  limit,
  async () => {
    await using edge = await createEdgeProcess();
    await edge.start();
    const key = await createKey(edge);
    const node = await ready(edge, key);
    const answer = ask(edge, key, false).catch(() => 'cut');
    await until('the Node has it', () => node.runs.length === 1);
    await listRuns(edge);
    await new Promise((resolve) => setTimeout(resolve, 300));
    edge.signal('SIGKILL');
    assert.equal(await edge.ended(), 'SIGKILL');
    assert.equal(await answer, 'cut');
    await edge.start();
    const [record] = await listRuns(edge);
    const end = record?.end?.end;
    assert.equal(end?.case === 'failed' && end.value.failure?.code, 'edge.restarted');
    assert.equal((await node.link()).kind, 'linked', 'no token is needed, the pin is the same');
    assert.equal(
      (await fetch(edge.url('/v1/models'), { headers: { authorization: `Bearer ${key}` } })).status,
      200,
    );
  },
);

test('a second Edge on the same state directory is refused, naming the first', limit, async () => {
  await using edge = await createEdgeProcess();
  await edge.start();
  const { code, stderr } = runEdge('serve', '--config', edge.init.configFile);
  assert.equal(code, 75);
  assert.match(stderr, new RegExp(`pid ${edge.pid}`));
});

test('a changed edge.yaml takes effect; a wrong one is said and changes nothing', limit, async () => {
  await using edge = await createEdgeProcess();
  await edge.start();
  const key = await createKey(edge);
  const node = await ready(edge, key);
  const names = () => {
    const last = node.received.findLast((each) => each.case === 'nodeConfigPayload');
    return last?.case === 'nodeConfigPayload' ? last.value.adapters.map((adapter) => adapter.name) : [];
  };
  edge.configure({
    adapters: [
      { name: 'mock', kind: 'mock' },
      { name: 'more', kind: 'mock' },
    ],
  });
  await until('the Node has the new one', () => names().includes('more'));
  writeFileSync(edge.init.configFile, 'name: [broken\n');
  await until('it is said', () => edge.lines.some((line) => line.includes('the old one stays in force')));
  assert.deepEqual(names(), ['mock', 'more']);
  assert.equal((await fetch(edge.url('/readyz'))).status, 200);
  edge.configure({ adapters: [{ name: 'mock', kind: 'mock' }], http: { port: 0, auth: 'none' } });
  await until('the Node has the last one', () => names().length === 1);
  await until('what needs a start is said', () =>
    edge.lines.some((line) => line.includes('at the next start')),
  );
});
