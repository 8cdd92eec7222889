import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hello, openHttpLab } from '../../testing/http-lab.ts';

test('everything lies under the base path, probes included, and nothing beside it', async () => {
  await using lab = await openHttpLab({ basePath: '/lab/iop' });
  lab.edge.script = (run) => run.complete();
  for (const path of ['/healthz', '/readyz', '/metrics', '/v1/models', '/v1/models/mock/echo']) {
    assert.equal((await lab.get(`/lab/iop${path}`)).status, 200, path);
    assert.equal((await lab.get(path)).status, 404, path);
  }
  assert.equal((await lab.post('/lab/iop/v1/chat/completions', hello)).status, 200);
  assert.equal((await lab.get('/lab/iop/v1/chat/completions')).status, 405);
  await lab.post('/lab/iop/v1/rerank', { model: 'bge' });
  assert.equal(lab.edge.runs.at(-1)?.intent.raw?.path, 'rerank');
});

test('who asks beside the base path is told where things are', async () => {
  await using lab = await openHttpLab({ basePath: '/iop' });
  for (const path of ['/v1/models', '/iopx/v1/models', '/']) {
    assert.match(await (await lab.get(path)).text(), /begins with \/iop \(http\.base_path\)/, path);
  }
  assert.match(await (await lab.get('/iop/v2')).text(), /GET \/iop\/v1\/models/);
});
