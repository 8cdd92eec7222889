import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock } from '@iop/link/testing';
import type { AdapterConfiguration, AdapterSettings, Allow } from '../../../ports/adapter-factory.ts';
import { createOllamaFactory } from './ollama-factory.ts';

const allow: Allow = { adapters: ['ollama'], programs: [], directories: [], hosts: ['127.0.0.1'] };
const factory = createOllamaFactory({ clock: createTestClock() });

function configuration(
  values: Partial<Extract<AdapterSettings, { kind: 'ollama' }>> = {},
): AdapterConfiguration {
  const times = { connectTimeoutMs: 0, loadTimeoutMs: 0, idleTimeoutMs: 0 };
  const options = { apiKeyFile: '', numCtx: 0, keepAlive: '', think: '' };
  const settings = {
    kind: 'ollama',
    baseUrl: 'http://127.0.0.1:11434/',
    ...times,
    ...options,
    ...values,
  } as const;
  return { name: 'ollama', concurrency: 0, targets: [], settings };
}

describe('ollama: its configuration', () => {
  for (const values of [
    {},
    { baseUrl: 'http://127.0.0.1/behind/a/proxy' },
    { keepAlive: '5m' },
    { keepAlive: '1h30m' },
    { keepAlive: '-1' },
    { keepAlive: '0', think: 'off' },
    { think: 'high', numCtx: 8192 },
  ]) {
    it(`may be ${JSON.stringify(values)}`, () => {
      assert.deepEqual(factory.check(configuration(values), allow), []);
    });
  }

  for (const [values, problem] of [
    [{ baseUrl: '127.0.0.1:11434' }, /base_url: .* is not a URL like http:\/\/127\.0\.0\.1:11434/],
    [{ baseUrl: 'http://10.0.0.1:11434' }, /host 10\.0\.0\.1 is not allowed/],
    [{ baseUrl: 'http://127.0.0.1:11434/v1' }, /base_url: must end before \/api or \/v1/],
    [{ apiKeyFile: 'key' }, /api_key_file: key is not an absolute path/],
    [{ keepAlive: 'soon' }, /keep_alive: "soon" is no duration/],
    [{ think: 'maybe' }, /think: "maybe" is none of off, on, low/],
  ] as const) {
    it(`may not be ${JSON.stringify(values)}`, () => {
      const problems = factory.check(configuration(values), allow);
      assert.equal(problems.length, 1, problems.join('; '));
      assert.match(problems[0] ?? '', problem);
    });
  }

  it('makes an adapter for chats, completions, embeddings and prompts', async () => {
    const adapter = factory.create(configuration(), allow);
    assert.deepEqual(
      [adapter.name, adapter.kind, adapter.dialects],
      ['ollama', 'ollama', ['openai.chat', 'openai.completions', 'openai.embeddings', 'iop.prompt']],
    );
    await adapter.close();
  });
});
