import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerLines, doneLine, startFakeOllama } from '../../../testing/fake-ollama.ts';
import { answerStatus, startScriptedUpstream } from '../../../testing/scripted-upstream.ts';
import { createLab, createOllama } from './ollama-fixture.ts';

const now = () => new AbortController().signal;
const answer = answerLines(doneLine());

describe('ollama: what it has', () => {
  it('is found without loading anything; models that only embed are left out (O10)', async (test) => {
    const { adapter, ollama } = await createLab(test, answer);
    ollama.models.set('nomic-embed:latest', { capabilities: ['embedding'] });
    ollama.models.set('qwen3:8b', { capabilities: ['completion', 'thinking'], loadedContext: 4096 });
    assert.deepEqual(await adapter.capabilities(now()), {
      healthy: true,
      detail: '',
      targets: [{ name: 'm:latest' }, { name: 'm' }, { name: 'qwen3:8b', contextLength: 4096 }],
    });
    assert.equal(ollama.chats.length, 0);
    assert.deepEqual(
      new Set(ollama.asked),
      new Set(['GET /api/version', 'GET /api/tags', 'GET /api/ps', 'POST /api/show']),
    );
  });

  it('is asked about each model once', async (test) => {
    const { adapter, ollama } = await createLab(test, answer);
    for (let i = 0; i < 3; i++) await adapter.capabilities(now());
    assert.equal(ollama.asked.filter((route) => route === 'POST /api/show').length, 2);
  });

  it('has the context that is configured, not what a model could do', async (test) => {
    const { adapter } = await createLab(test, answer, { numCtx: 8192 });
    const { targets } = await adapter.capabilities(now());
    assert.deepEqual(
      targets.map((target) => target.contextLength),
      [8192, 8192],
    );
  });

  it('lacks what the configuration names: said, and a name without a tag means latest', async (test) => {
    const { adapter } = await createLab(test, answer, { targets: ['m', 'gone:7b'] });
    const { healthy, detail } = await adapter.capabilities(now());
    assert.deepEqual([healthy, detail], [true, 'configured but not served now: gone:7b']);
  });

  it('think is asked only of models that can', async (test) => {
    const { adapter, ollama, run } = await createLab(test, answer, { think: true });
    await run();
    ollama.models.set('m:latest', { capabilities: ['completion'] });
    await adapter.capabilities(now());
    await run();
    await run({ request: { reasoning_effort: 'low' } });
    assert.deepEqual(
      ollama.chats.map(({ json }) => json.think),
      [true, undefined, 'low'],
    );
  });
});

describe('ollama: one that is away', () => {
  it('is unhealthy, and is picked up when it starts', async (test) => {
    const first = await startFakeOllama({ m: answer });
    await first.close();
    const adapter = createOllama(first.baseUrl);
    const away = await adapter.capabilities(now());
    assert.equal(away.healthy, false);
    assert.match(away.detail, /cannot reach ollama at 127\.0\.0\.1:\d+: .*ECONNREFUSED/);
    const second = await startFakeOllama({ m: answer }, first.port);
    test.after(async () => {
      await adapter.close();
      await second.close();
    });
    assert.deepEqual(await adapter.capabilities(now()), {
      healthy: true,
      detail: '',
      targets: [{ name: 'm' }],
    });
  });

  it('or is something else, is said to be no Ollama', async (test) => {
    const other = await startScriptedUpstream({});
    other.models = answerStatus(404, { error: 'no' });
    const adapter = createOllama(`http://127.0.0.1:${other.port}`);
    test.after(async () => {
      await adapter.close();
      await other.close();
    });
    const { healthy, detail } = await adapter.capabilities(now());
    assert.equal(healthy, false);
    assert.match(detail, /answered 404 to GET \/api\/version: no; is it an Ollama\?/);
  });
});
