import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, hello, openHttpLab } from '../../testing/http-lab.ts';

const trustedProxies = ['127.0.0.1'];
const fromAfar = { 'x-forwarded-for': '192.0.2.7' };

test('a proxy does not lend the rights of this machine to the callers that it serves', async () => {
  await using lab = await openHttpLab({ auth: 'none', trustedProxies });
  lab.edge.script = (run) => run.complete();
  const status = async (headers: Record<string, string>) => (await lab.chat(hello, headers)).status;
  assert.equal(await status({}), 200);
  assert.equal(await status({ 'x-forwarded-for': '127.0.0.1' }), 200);
  assert.equal(await status(fromAfar), 403);
  assert.equal(await status({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-host': 'lab.example' }), 403);
  assert.equal(await status({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-host': 'localhost:7480' }), 200);
});

test('metrics behind a trusted proxy need a key from afar and none from here', async () => {
  await using lab = await openHttpLab({ trustedProxies });
  assert.equal((await lab.get('/metrics', fromAfar)).status, 401);
  assert.equal((await lab.get('/metrics', { ...fromAfar, ...bearer })).status, 200);
  assert.equal((await lab.get('/metrics', { 'x-forwarded-for': '127.0.0.1' })).status, 200);
});
