import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiLab, openApiLab, readEvents } from '../../testing/api-lab.ts';
import { completed } from '../../testing/fake-node.ts';
import { until } from '../../testing/wire-world.ts';

const limit = { timeout: 60_000 };
const order = {
  adapter: 'mock',
  target: 'echo',
  dialect: 'openai.chat',
  bodyText: '{"messages":[]}',
  stream: true,
};

async function startRun(lab: ApiLab, over: object = {}): Promise<string> {
  const { status, json } = await lab.call('POST', 'runs', { body: { ...order, ...over } });
  assert.equal(status, 201, JSON.stringify(json));
  return json.runId;
}

interface Told {
  run?: { events: Record<string, { data: string }>[]; firstPos: number };
}

/** Events by pos, as a watch tells them: kinds, and texts of raw ones. */
function wordsOf(data: string): string[] {
  const { run } = JSON.parse(data) as Told;
  return (run?.events ?? []).map((event, index) => {
    const [kind = ''] = Object.keys(event);
    const text = kind === 'raw' ? Buffer.from(event.raw?.data ?? '', 'base64').toString() : kind;
    return `${(run?.firstPos ?? 0) + index} ${text}`;
  });
}

test('a run is started, inspected, watched, explained, cancelled and deleted by HTTP', limit, async () => {
  await using lab = await openApiLab();
  const node = await lab.world.readyNode('a');
  const runId = await startRun(lab);
  await until('the Node has it', () => node.runs.length === 1);
  assert.equal(Buffer.from(node.runs[0]?.request.body ?? []).toString(), order.bodyText);
  node.runs[0]?.say('one ');
  const watch = await lab.open(`runs/${runId}/events`);
  assert.equal(watch.headers.get('content-type'), 'text/event-stream');
  node.runs[0]?.say('two');
  const { json: info } = await lab.call('GET', `runs/${runId}`);
  assert.deepEqual(
    [info.runId, info.runClass, info.door, info.node, info.stored],
    [runId, 'RUN_CLASS_DETACHED', 'api', 'a', true],
  );
  const { json: why } = await lab.call('GET', `runs/${runId}/why`);
  assert.equal(why.attempts[0].candidates[0].verdict, 'chosen');
  assert.equal((await lab.call('DELETE', `runs/${runId}`)).status, 409);
  const cancelled = await lab.call('POST', `runs/${runId}/cancel`);
  assert.deepEqual([cancelled.status, cancelled.json.state], [200, 'RUN_STATE_STOPPING']);
  await until('the Node is told', () => node.runs[0]?.cancelledBy === 'operator');
  node.runs[0]?.end({ kind: 'cancelled', by: 'operator' });
  const told: string[] = [];
  const ids: string[] = [];
  for await (const { id, event, data = '' } of readEvents(watch)) {
    if (event === 'stop') told.push('stop');
    else told.push(...wordsOf(data));
    if (id !== undefined) ids.push(id);
  }
  assert.deepEqual(told, ['1 attempt', '2 one ', '3 two', '4 state', '5 end', 'stop']);
  assert.equal(ids.at(-1), '5');
  assert.deepEqual((await lab.call('DELETE', `runs/${runId}`)).json, {});
  assert.equal((await lab.call('GET', `runs?state=cancelled`)).json.runs[0].runId, runId);
  assert.deepEqual((await lab.call('GET', `runs?state=running`)).json.runs, []);
});

test('whoever comes back to a watch is told the rest, and nothing when there is none', limit, async () => {
  await using lab = await openApiLab();
  const node = await lab.world.readyNode('a');
  const runId = await startRun(lab);
  await until('the Node has it', () => node.runs.length === 1);
  node.runs[0]?.say('one');
  node.runs[0]?.say('two');
  node.runs[0]?.end(completed);
  const rest = async (path: string, headers = {}) => {
    const response = await lab.open(path, headers);
    if (response.status !== 200) return response.status;
    const told: string[] = [];
    for await (const { data = '', event } of readEvents(response)) {
      if (event !== 'stop') told.push(...wordsOf(data));
    }
    return told;
  };
  const all = ['1 attempt', '2 one', '3 two', '4 end'];
  assert.deepEqual(await rest(`runs/${runId}/events`), all);
  assert.deepEqual(await rest(`runs/${runId}/events?after_pos=2`), all.slice(2));
  const path = `runs/${runId}/events?after_pos=1`;
  assert.deepEqual(await rest(path, { 'last-event-id': '3' }), all.slice(3), 'the header is newer');
  assert.equal(await rest(path, { 'last-event-id': '4' }), 204);
  assert.equal(await rest(path, { 'last-event-id': '5' }), 400);
  assert.equal(await rest(path, { 'last-event-id': 'x' }), 400);
  const page = await lab.call('GET', `runs/${runId}/events?after_pos=2`);
  assert.deepEqual([page.json.firstPos, page.json.events.length], [3, 2]);
});

test('a caller that does not read costs a window, and the others are told all', limit, async () => {
  await using lab = await openApiLab();
  const node = await lab.world.readyNode('a');
  const runId = await startRun(lab);
  await until('the Node has it', () => node.runs.length === 1);
  const stalled = await lab.open(`runs/${runId}/events`);
  const watching = await lab.open(`runs/${runId}/events`);
  const piece = 'x'.repeat(50_000);
  for (let count = 0; count < 100; count++) node.runs[0]?.say(piece);
  node.runs[0]?.end(completed);
  let bytes = 0;
  for await (const { data = '{}' } of readEvents(watching)) {
    for (const event of (JSON.parse(data) as Told).run?.events ?? [])
      bytes += Buffer.from(event.raw?.data ?? '', 'base64').length;
  }
  assert.equal(bytes, 100 * piece.length);
  await stalled.body?.cancel();
});

test('a key is what its role lets it be', limit, async () => {
  await using lab = await openApiLab();
  const { caller, operator, admin } = lab.keys;
  const status = async (method: string, path: string, key: string, body?: object) =>
    (await lab.call(method, path, { key, ...(body === undefined ? {} : { body }) })).status;
  for (const path of ['nodes', 'targets', 'runs', 'keys', 'usage']) {
    assert.deepEqual(
      [await status('GET', path, ''), await status('GET', path, caller), await status('GET', path, operator)],
      [401, 403, 200],
      path,
    );
  }
  assert.equal(await status('POST', 'keys', operator, { name: 'x' }), 403);
  assert.equal(await status('GET', 'what', caller), 403, 'who may nothing learns nothing');
  const made = await lab.call('POST', 'keys', {
    key: admin,
    body: { name: 'x', policy: { role: 'KEY_ROLE_OPERATOR', concurrency: 2 } },
  });
  assert.deepEqual([made.status, made.json.key.policy.role], [201, 'KEY_ROLE_OPERATOR']);
  const { id } = made.json.key;
  assert.equal(await status('GET', 'runs', made.json.secret), 200);
  const changed = await lab.call('POST', `keys/${id}`, { body: { policy: { concurrency: 1 } } });
  assert.equal(changed.json.key.policy.role, 'KEY_ROLE_CALLER');
  assert.equal(await status('GET', 'runs', made.json.secret), 403, 'at once');
  assert.equal((await lab.call('DELETE', `keys/${id}`)).json.key.revoked, true);
  assert.equal(await status('GET', 'runs', made.json.secret), 401);
  assert.equal(await status('DELETE', 'keys/none', admin), 404);
});

test('without keys everybody on this machine may everything', limit, async () => {
  await using lab = await openApiLab({ auth: 'none' });
  assert.equal((await lab.call('POST', 'keys', { key: '', body: { name: 'x' } })).status, 201);
  const foreign = await lab.call('GET', 'nodes', { key: '', headers: { origin: 'https://evil.example' } });
  assert.deepEqual([foreign.status, foreign.json.kind], [403, 'forbidden']);
});

test('what is wrong is told as a Failure with a fitting status', limit, async () => {
  await using lab = await openApiLab();
  await lab.world.readyNode('a');
  const told = async (method: string, path: string, body?: unknown) => {
    const { status, json } = await lab.call(method, path, body === undefined ? {} : { body });
    return [status, json.kind, json.code];
  };
  assert.deepEqual(await told('GET', 'runs/run_none'), [404, 'not-found', 'run.unknown']);
  assert.deepEqual(await told('GET', 'runs/run_none/why'), [404, 'not-found', 'run.unknown']);
  assert.deepEqual(await told('GET', 'elsewhere'), [404, 'not-found', 'request.unknown-path']);
  assert.deepEqual(await told('DELETE', 'nodes'), [405, 'invalid', 'request.method']);
  assert.deepEqual(await told('GET', 'runs?limit=no'), [400, 'invalid', 'request.query']);
  assert.deepEqual(await told('GET', 'runs?state=idle'), [400, 'invalid', 'request.query']);
  assert.deepEqual(await told('POST', 'runs', '{"adapter":'), [400, 'invalid', 'request.json']);
  assert.deepEqual(await told('POST', 'runs', { adaptor: 'x' }), [400, 'invalid', 'request.json']);
  assert.deepEqual(await told('POST', 'runs', {}), [400, 'invalid', 'run.target-missing']);
  assert.deepEqual(await told('POST', 'runs', { ...order, target: 'ecko' }), [
    404,
    'not-found',
    'target.unknown',
  ]);
  const attached = { ...order, runClass: 'RUN_CLASS_ATTACHED' };
  assert.deepEqual(await told('POST', 'runs', attached), [400, 'invalid', 'run.attached']);
  assert.deepEqual(await told('POST', 'runs', 'x'.repeat(1024 * 1024 + 1)), [
    413,
    'invalid',
    'request.too-large',
  ]);
});

test('an idempotency key may come in the header', limit, async () => {
  await using lab = await openApiLab();
  await lab.world.readyNode('a');
  const headers = { 'idempotency-key': 'k1' };
  const first = await lab.call('POST', 'runs', { body: order, headers });
  const again = await lab.call('POST', 'runs', { body: order, headers });
  assert.deepEqual([first.status, again.status, again.json.runId], [201, 200, first.json.runId]);
  const other = await lab.call('POST', 'runs', { body: { ...order, bodyText: '{}' }, headers });
  assert.deepEqual([other.status, other.json.code], [409, 'idempotency.conflict']);
});

test('a watch does not keep the Edge from stopping, and is told so', limit, async () => {
  await using lab = await openApiLab();
  await lab.world.readyNode('a');
  const watch = await lab.open(`runs/${await startRun(lab)}/events`);
  const events = readEvents(watch);
  assert.deepEqual(wordsOf((await events.next()).value?.data ?? ''), ['1 attempt']);
  const closed = lab.close();
  const { value } = await events.next();
  assert.equal(value?.event, 'stop');
  assert.equal(JSON.parse(value?.data ?? '{}').failure.code, 'edge.stopping');
  assert.equal((await events.next()).done, true);
  await closed;
});
