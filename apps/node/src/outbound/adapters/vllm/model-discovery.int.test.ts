import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerStatus, modelsOf, startScriptedUpstream } from '../../../testing/scripted-upstream.ts';
import { parseModels } from './model-discovery.ts';
import { createLab, createVllm } from './vllm-fixture.ts';

const never = new AbortController().signal;

describe('vllm: what an upstream serves', () => {
  it('is its list of models, with their context length', async (test) => {
    const { adapter, upstream } = await createLab(test, () => {});
    const found = await adapter.capabilities(never);
    assert.deepEqual(found, { healthy: true, detail: '', targets: [{ name: 'model', contextLength: 4096 }] });
    assert.equal(upstream.exchanges.length, 0, 'nothing was run');
  });

  it('is not known while it is away, and is found when it appears', async () => {
    const first = await startScriptedUpstream({ model: () => {} });
    await first.close();
    const adapter = createVllm(first.baseUrl);
    const away = await adapter.capabilities(never);
    assert.equal(away.healthy, false);
    assert.match(away.detail, /cannot reach vllm at 127/);
    assert.deepEqual(away.targets, []);
    const second = await startScriptedUpstream({ model: () => {} }, first.port);
    assert.equal((await adapter.capabilities(never)).healthy, true);
    await second.close();
    const gone = await adapter.capabilities(never);
    assert.equal(gone.healthy, false);
    assert.deepEqual(
      gone.targets.map((target) => target.name),
      ['model'],
      'what it served is still told',
    );
    await adapter.close();
  });

  it('stays as it was while it is too busy to answer', async (test) => {
    const { adapter, upstream } = await createLab(test, () => {});
    const impatient = () => AbortSignal.timeout(100);
    upstream.models = () => {};
    const before = await adapter.capabilities(impatient());
    assert.equal(before.healthy, false, 'it was never healthy before');
    upstream.models = modelsOf(['model']);
    await adapter.capabilities(never);
    upstream.models = () => {};
    const busy = await adapter.capabilities(impatient());
    assert.equal(busy.healthy, true);
    assert.match(busy.detail, /too busy/);
    assert.equal(busy.targets.length, 1);
  });

  it('is unhealthy when it refuses to tell', async (test) => {
    const { adapter, upstream } = await createLab(test, () => {});
    upstream.models = answerStatus(401, { error: { message: 'wrong key' } });
    const found = await adapter.capabilities(never);
    assert.equal(found.healthy, false);
    assert.match(found.detail, /answered 401 to GET \/models: wrong key/);
    upstream.models = answerStatus(200, '<html>');
    assert.match((await adapter.capabilities(never)).detail, /no list of models/);
  });

  it('is what was configured where there is no list', async (test) => {
    const { adapter, upstream } = await createLab(test, () => {}, { targets: ['a', 'b'] });
    upstream.models = answerStatus(404, { error: { message: 'not found' } });
    const found = await adapter.capabilities(never);
    assert.equal(found.healthy, true);
    assert.deepEqual(found.targets, [{ name: 'a' }, { name: 'b' }]);
  });

  it('names what was configured and is not served', async (test) => {
    const { adapter } = await createLab(test, () => {}, { targets: ['model', 'other'] });
    assert.equal((await adapter.capabilities(never)).detail, 'configured but not served now: other');
  });

  it('is read from vLLM and llama.cpp, and odd cards are left out', () => {
    const cards = [
      { id: 'a', max_model_len: 10 },
      { id: 'b', meta: { n_ctx_train: 20 } },
      { id: 'slot', meta: { n_ctx: 5, n_ctx_train: 20 } },
      { id: 'c', max_model_len: 'x' },
      { id: 7 },
      null,
      {},
    ];
    assert.deepEqual(parseModels({ data: cards }), [
      { name: 'a', contextLength: 10 },
      { name: 'b', contextLength: 20 },
      { name: 'slot', contextLength: 5 },
      { name: 'c' },
    ]);
    const images = (holds: boolean) => [{ name: 'images', holds, source: 'declared' }];
    const models = [
      { name: 'a', capabilities: ['completion'] },
      { name: 'b', capabilities: ['completion', 'multimodal'] },
      { name: 'c', capabilities: 7 },
      null,
    ];
    const declared = parseModels({ models, data: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] });
    assert.deepEqual(declared, [
      { name: 'a', facts: images(false) },
      { name: 'b', facts: images(true) },
      { name: 'c' },
    ]);
    assert.equal(parseModels({}), undefined);
    assert.equal(parseModels(null), undefined);
  });
});
