import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseCliProfile } from '@iop/cli-profile';
import { knownAgents } from './known-agents.ts';
import { readOllamaHost } from './ollama-host.ts';

test('every known agent has a profile that an Edge and a Node take', () => {
  for (const { name, profile } of knownAgents) {
    const parsed = parseCliProfile(
      JSON.stringify({ program: `/bin/${name}`, directory: '/work', ...profile }),
    );
    assert.equal(parsed.kind, 'profile', JSON.stringify({ name, parsed }));
  }
});

test('no known agent is given a prompt as a value of an option, or leave to do anything', () => {
  for (const { name, profile } of knownAgents) {
    const args = (profile.args as string[]).join(' ');
    assert.equal(profile.prompt ?? 'stdin', 'stdin', name);
    assert.doesNotMatch(args, /yolo|dangerously|full-access|bypass|allow-all/, name);
  }
});

test('the page about agents shows each known one', () => {
  const page = readFileSync(new URL('../../../../docs/cli-agents.md', import.meta.url), 'utf8');
  for (const { name } of knownAgents) assert.match(page, new RegExp(`name: ${name}\\b`), name);
});

test('OLLAMA_HOST means what it means to Ollama', () => {
  const urls: [string | undefined, string][] = [
    [undefined, 'http://127.0.0.1:11434'],
    ['', 'http://127.0.0.1:11434'],
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['0.0.0.0:8000', 'http://127.0.0.1:8000'],
    [':9000', 'http://127.0.0.1:9000'],
    ['gpu.lan', 'http://gpu.lan:11434'],
    ['gpu.lan:80', 'http://gpu.lan:80'],
    ['http://gpu.lan', 'http://gpu.lan'],
    ['http://gpu.lan:1234/', 'http://gpu.lan:1234'],
    ['https://gpu.lan', 'https://gpu.lan'],
    ['[::1]:5000', 'http://[::1]:5000'],
    ['[::]:5000', 'http://127.0.0.1:5000'],
    ['not a host', 'http://127.0.0.1:11434'],
  ];
  for (const [value, url] of urls) assert.equal(readOllamaHost(value).baseUrl, url, value ?? 'unset');
  assert.equal(readOllamaHost('[::1]:5000').host, '::1');
});
