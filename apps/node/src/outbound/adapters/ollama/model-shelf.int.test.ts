import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TargetFact } from '@iop/runtime';
import { answerLines, doneLine, line, startFakeOllama } from '../../../testing/fake-ollama.ts';
import { answerStatus, startScriptedUpstream } from '../../../testing/scripted-upstream.ts';
import { createLab, createOllama } from './ollama-fixture.ts';

const now = () => new AbortController().signal;
const answer = answerLines(doneLine());

function holding(facts: readonly TargetFact[] = []): string {
  return facts.flatMap(({ name, holds }) => (holds ? [name] : [])).join(' ');
}

describe('ollama: what it has', () => {
  it('is found without loading anything, with what each model can do (O10)', async (test) => {
    const { adapter, ollama } = await createLab(test, answer);
    ollama.models.set('nomic-embed:latest', { capabilities: ['embedding'] });
    ollama.models.set('qwen3:8b', { capabilities: ['completion', 'tools', 'thinking'], loadedContext: 4096 });
    ollama.models.set('painter:latest', { capabilities: ['image'] });
    const { healthy, detail, targets, load } = await adapter.capabilities(now());
    assert.deepEqual([healthy, detail], [true, '']);
    assert.deepEqual(
      targets.map(({ name, contextLength, facts }) => [name, contextLength, holding(facts)]),
      [
        ['m:latest', undefined, 'chat completions tools'],
        ['m', undefined, 'chat completions tools'],
        ['nomic-embed:latest', undefined, 'embeddings'],
        ['qwen3:8b', 4096, 'chat completions tools reasoning'],
      ],
    );
    assert.ok(targets.every(({ facts }) => facts?.every(({ source }) => source === 'declared')));
    // /api/ps says what is loaded, not how much it has to do: nothing is made up.
    assert.equal(load, undefined);
    assert.equal(ollama.runs.length, 0);
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

  it('has no more context than a model was trained for', async (test) => {
    const { adapter, ollama } = await createLab(test, answer, { numCtx: 8192 });
    ollama.models.set('small:1b', { trainedContext: 512 });
    const { targets } = await adapter.capabilities(now());
    assert.deepEqual(
      targets.map((target) => target.contextLength),
      [8192, 8192, 512],
    );
  });

  it('shows by its runs what it can do; that counts more than what it says', async (test) => {
    const call = { function: { name: 'f', arguments: {} } };
    const play = answerLines(line({ thinking: 'hm' }), line({ tool_calls: [call] }), doneLine());
    const { adapter, ollama, run } = await createLab(test, play);
    ollama.models.set('m:latest', { capabilities: ['completion'] });
    await run();
    const { targets } = await adapter.capabilities(now());
    const measured = targets[0]?.facts?.filter(({ source }) => source === 'measured');
    assert.equal(holding(measured), 'chat tools stream-tools usage-in-stream reasoning');
    assert.equal(measured?.length, 5);
  });

  it('shows by a refusal what it cannot do', async (test) => {
    const refuse = answerStatus(400, { error: 'registry.ollama.ai/library/m:latest does not support tools' });
    const { adapter, run } = await createLab(test, refuse);
    await run();
    const { targets } = await adapter.capabilities(now());
    const tools = targets[0]?.facts?.find(({ name }) => name === 'tools');
    assert.deepEqual(tools, { name: 'tools', holds: false, source: 'measured' });
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
      ollama.runs.map(({ json }) => json.think),
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
    const back = await adapter.capabilities(now());
    assert.deepEqual([back.healthy, back.detail, back.targets.map(({ name }) => name)], [true, '', ['m']]);
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
