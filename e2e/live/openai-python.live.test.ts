/** The official Python client against a real fleet; what it checks stands in `openai_client.py`. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openScene, type Scene } from '../harness/scene.ts';
import { openScratch, run } from './scratch.ts';

const version = '3.57.0';
const python = await install();
const skip = python.kind === 'missing' ? `no openai for Python: ${python.reason}` : false;
const script = new URL('./openai_client.py', import.meta.url).pathname;

describe(`openai ${version} for Python`, { timeout: 300_000 }, () => {
  let scene: Scene;
  before(async () => {
    if (python.kind === 'ready') scene = await openScene();
  });
  after(() => scene?.world.close());

  test('chat, streams, tools, completions, embeddings, errors', { skip }, async (context) => {
    assert.ok(python.kind === 'ready');
    const { url, apiKey } = scene.edge;
    const { ok, output } = await run([python.program, script, `${url}/v1`, apiKey], 60_000);
    for (const line of output.trim().split('\n')) context.diagnostic(line);
    assert.ok(ok, output);
  });
});

type Installed = { kind: 'ready'; program: string } | { kind: 'missing'; reason: string };

async function install(): Promise<Installed> {
  const folder = join(openScratch(), `openai-python-${version}`);
  const program = join(folder, 'bin', 'python');
  if (!existsSync(program)) {
    const made = await run(['python3', '-m', 'venv', folder], 60_000);
    if (!made.ok) return { kind: 'missing', reason: made.output.slice(-500) };
  }
  const { ok, output } = await run([program, '-m', 'pip', 'install', '-q', `openai==${version}`], 300_000);
  return ok ? { kind: 'ready', program } : { kind: 'missing', reason: output.slice(-500) };
}
