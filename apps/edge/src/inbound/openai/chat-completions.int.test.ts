import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hello, openHttpLab } from '../../testing/http-lab.ts';

async function errorOf(response: Response) {
  return ((await response.json()) as { error: { message: string; param: string | null; code: string } })
    .error;
}

test('bad requests are 400 with the place of the fault, and start nothing', async () => {
  await using lab = await openHttpLab();
  const malformed = await lab.chat('{"model":"qwen","messages":[}');
  assert.equal(malformed.status, 400);
  assert.match((await errorOf(malformed)).message, /position 28 \(line 1, column 29\)/);
  const empty = await lab.chat({ model: 'qwen', messages: [] });
  assert.equal(empty.status, 400);
  assert.equal((await errorOf(empty)).param, 'messages');
  assert.equal((await lab.chat('')).status, 400);
  assert.equal(lab.edge.runs.length, 0);
});

test('the content type does not matter', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => run.complete();
  for (const type of [
    'text/plain',
    'application/json; charset=utf-8',
    'application/x-www-form-urlencoded',
    'nonsense',
    '',
  ]) {
    assert.equal((await lab.chat(hello, { 'content-type': type })).status, 200, type);
  }
});

test('a compressed body is refused by name', async () => {
  await using lab = await openHttpLab();
  const response = await lab.chat(hello, { 'content-encoding': 'gzip' });
  assert.equal(response.status, 415);
  assert.equal((await errorOf(response)).code, 'unsupported_encoding');
});

test('a bug in the Edge costs one exchange and says so', async () => {
  await using lab = await openHttpLab();
  const { start } = lab.edge;
  lab.edge.start = () => {
    throw new Error('a bug');
  };
  const response = await lab.chat({ ...hello, stream: true });
  assert.equal(response.status, 500);
  assert.equal(response.headers.get('x-should-retry'), 'false');
  assert.doesNotMatch(await response.text(), /a bug/);
  lab.edge.start = start;
  lab.edge.script = (run) => run.complete();
  assert.equal((await lab.chat(hello)).status, 200);
});

test('an unknown model is 404 with the nearest names', async () => {
  await using lab = await openHttpLab();
  lab.edge.refusal = { kind: 'unknown-target', asked: 'qwem', nearest: ['qwen'] };
  for (const stream of [false, true]) {
    const response = await lab.chat({ ...hello, model: 'qwem', stream });
    assert.equal(response.status, 404);
    const error = await errorOf(response);
    assert.deepEqual([error.code, error.param], ['model_not_found', 'model']);
    assert.match(error.message, /did you mean `qwen`/);
  }
});

test('no Node, a full queue and a stopping Edge say when to come back', async () => {
  await using lab = await openHttpLab();
  lab.edge.refusal = { kind: 'no-node', asked: 'qwen', detail: 'gpu-1 is away', retryAfterMs: 2500 };
  const away = await lab.chat(hello);
  assert.deepEqual([away.status, away.headers.get('retry-after')], [503, '3']);
  lab.edge.refusal = { kind: 'queue-full', asked: 'qwen', limit: 256, retryAfterMs: 400 };
  const full = await lab.chat({ ...hello, stream: true });
  assert.deepEqual(
    [full.status, full.headers.get('retry-after'), full.headers.get('retry-after-ms')],
    [429, '1', '400'],
  );
  assert.equal(full.headers.get('x-should-retry'), null);
  lab.edge.refusal = { kind: 'stopping' };
  const stopping = await lab.chat(hello);
  assert.deepEqual([stopping.status, stopping.headers.get('connection')], [503, 'close']);
});

test('models are listed once each and found by names with slashes', async () => {
  await using lab = await openHttpLab();
  assert.deepEqual(await (await lab.get('/v1/models')).json(), {
    object: 'list',
    data: [
      { id: 'qwen', object: 'model', created: 1_700_000_000, owned_by: 'iop' },
      { id: 'mock/echo', object: 'model', created: 1_700_000_001, owned_by: 'iop' },
    ],
  });
  for (const path of ['/v1/models/mock/echo', '/v1/models/mock%2Fecho', '/v1/models/mock/echo/']) {
    const response = await lab.get(path);
    assert.equal(response.status, 200, path);
    assert.equal(((await response.json()) as { id: string }).id, 'mock/echo');
  }
  const missing = await lab.get('/v1/models/none');
  assert.equal(missing.status, 404);
  assert.equal((await errorOf(missing)).code, 'model_not_found');
  assert.equal((await lab.get('/v1/models/mock/echo', {})).status, 401);
});
