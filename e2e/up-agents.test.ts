// `iop up` and what it finds: CLI agents on the PATH are offered and used only when asked for; Ollama by OLLAMA_HOST.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, test } from 'node:test';
import { eventually } from './harness/eventually.ts';
import { freePort } from './harness/port.ts';
import { iopMain, startUp, type Up } from './harness/up.ts';

const limit = { timeout: 180_000 };
const root = mkdtempSync(join(tmpdir(), 'iop-up-agents-'));
const bin = join(root, 'bin');
after(() => rmSync(root, { recursive: true }));
const started: Up[] = [];
afterEach(async () => void (await Promise.all(started.splice(0).map((up) => up.stop()))));

/** Speaks as the real one does in its headless mode; what it was called with is put beside it. */
function fakeAgent(name: string, lines: readonly object[]): void {
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  const script = `#!/bin/sh
echo "$@" > ${join(root, `${name}.args`)}
prompt=$(cat)
cat <<'EOF' | sed "s|PROMPT|$prompt $PWD $ANTHROPIC_API_KEY|"
${text}
EOF
`;
  writeFileSync(join(bin, name), script);
  chmodSync(join(bin, name), 0o755);
}

mkdirSync(bin);
fakeAgent('claude', [
  { type: 'system', subtype: 'init', session_id: 's' },
  { type: 'assistant', message: { content: [{ type: 'tool_use', name: 'Read' }] } },
  { type: 'assistant', message: { content: [{ type: 'text', text: 'claude got PROMPT' }] } },
  {
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'x',
    usage: { input_tokens: 5, output_tokens: 6 },
  },
]);
fakeAgent('codex', [
  { type: 'thread.started', thread_id: 't' },
  { type: 'item.completed', item: { type: 'agent_message', text: 'codex got it' } },
  { type: 'turn.completed', usage: { input_tokens: 7, output_tokens: 8 } },
]);

async function up(args: readonly string[], env: Record<string, string> = {}) {
  const stateDir = join(mkdtempSync(join(root, 's-')), 'state');
  const portBase = (await freePort()) - 80;
  const where = ['--state-dir', stateDir, '--port-base', String(portBase)];
  const command = [process.execPath, iopMain, 'up', ...where, ...args];
  const running = startUp(command, { PATH: `${bin}:/usr/bin:/bin`, ...env });
  started.push(running);
  return { running, stateDir };
}

describe('iop up with CLI agents on the PATH', () => {
  test('offers them in words, and starts none', limit, async () => {
    const { running, stateDir } = await up([]);
    await eventually('it is up', 90_000, () => running.out.includes('Try it'));
    assert.match(running.out, /CLI agents found: claude, codex\. Started with --agents claude,codex/);
    assert.doesNotMatch(running.out, /models .*claude/);
    assert.doesNotMatch(readFileSync(join(stateDir, 'node', 'node.yaml'), 'utf8'), /claude|codex/);
  });

  test('makes models of those that are asked for', limit, async () => {
    const { running, stateDir } = await up(['--agents', 'claude', '--json'], { ANTHROPIC_API_KEY: 'k' });
    const { edge, apiKey } = await running.facts();
    const answer = await fetch(`${edge.http}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'claude', messages: [{ role: 'user', content: 'hi' }] }),
    });
    const body = (await answer.json()) as {
      choices: { message: { content: string } }[];
      usage: { prompt_tokens: number };
    };
    const work = join(stateDir, 'agents');
    assert.equal(body.choices[0]?.message.content, `claude got hi ${work} k`);
    assert.equal(body.usage.prompt_tokens, 5);
    assert.equal(
      readFileSync(join(root, 'claude.args'), 'utf8'),
      '-p --output-format stream-json --verbose\n',
    );
    const nodeYaml = readFileSync(join(stateDir, 'node', 'node.yaml'), 'utf8');
    assert.match(nodeYaml, new RegExp(`programs:\\s+- ${join(bin, 'claude')}\\n`));
    assert.doesNotMatch(nodeYaml, /codex/);
    const models = await fetch(`${edge.http}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } });
    assert.doesNotMatch(await models.text(), /codex/);
  });

  test('refuses one that is not there or not known, before anything is made', limit, async () => {
    for (const [names, words] of [
      ['gemini', /there is no gemini on the PATH \(found: claude, codex\)/],
      ['sh', /"sh" is not one of all, claude/],
    ] as const) {
      const { running } = await up(['--agents', names]);
      assert.equal((await running.exited).code, 64);
      assert.match(running.err, words);
    }
  });
});

test('iop up asks Ollama where OLLAMA_HOST says', limit, async () => {
  const server = createServer((request, response) => {
    const answers: Record<string, object> = {
      '/api/version': { version: '0.12.0' },
      '/api/tags': { models: [{ name: 'tiny:latest', model: 'tiny:latest', details: {} }] },
      '/api/ps': { models: [] },
      '/v1/models': { object: 'list', data: [{ id: 'tiny:latest' }] },
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answers[request.url ?? ''] ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const { running } = await up([], { OLLAMA_HOST: `0.0.0.0:${port}` });
    await eventually('it is up', 90_000, () => running.out.includes('Try it'));
    assert.match(running.out, /models .*tiny:latest \(ollama\)/);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
