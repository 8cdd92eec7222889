/**
 * OpenCode, a coding agent from npm, with the Edge as its only model server: a whole turn with a tool
 * call, offline. The model is the mock; everything else is what its users run.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Edge } from '../harness/edge.ts';
import { openWorld, type World } from '../harness/world.ts';
import { openScratch, run } from './scratch.ts';

const version = '1.18.33';
const opencode = await install();
const skip = opencode.kind === 'missing' ? `no OpenCode: ${opencode.reason}` : false;

describe(`OpenCode ${version} with the Edge as its model server`, { timeout: 300_000 }, () => {
  let world: World;
  let edge: Edge;
  let home: string;
  before(async () => {
    if (opencode.kind === 'missing') return;
    home = mkdtempSync(join(openScratch(), 'opencode-home-'));
    mkdirSync(join(home, 'project'));
    world = openWorld();
    edge = await world.edge({ adapters: [mockAgent(join(home, 'project', 'hello.txt'))] });
    await world.node(edge, { name: 'n1' });
  });
  after(async () => {
    await world?.close();
    if (home !== undefined) rmSync(home, { recursive: true, force: true });
  });

  test('a turn: it is told to write a file, writes it, says so, and has stopped', { skip }, async () => {
    assert.ok(opencode.kind === 'ready');
    writeFileSync(join(home, 'project', 'opencode.json'), JSON.stringify(configuration(edge)));
    const done = await run(
      ['env', '-i', ...environment(home), opencode.program, 'run', '--format', 'json', 'Write hello.txt'],
      120_000,
      join(home, 'project'),
    );
    assert.ok(done.ok, done.output);
    const steps = done.output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map(toStep);
    assert.ok(steps.includes('tool_use write completed'), done.output);
    assert.ok(steps.includes('step_finish tool-calls'), done.output);
    assert.ok(steps.includes('text I have written it.'), done.output);
    assert.equal(steps.at(-1), 'step_finish stop');
    assert.equal(readFileSync(join(home, 'project', 'hello.txt'), 'utf8'), 'by a tool\n');
  });
});

type Installed = { kind: 'ready'; program: string } | { kind: 'missing'; reason: string };

async function install(): Promise<Installed> {
  const folder = join(openScratch(), `opencode-${version}`);
  mkdirSync(folder, { recursive: true });
  const npm = ['npm', 'install', '--prefix', folder, '--no-audit', '--no-fund', `opencode-ai@${version}`];
  const { ok, output } = await run(npm, 300_000);
  if (!ok) return { kind: 'missing', reason: output.slice(-500) };
  return { kind: 'ready', program: join(folder, 'node_modules', '.bin', 'opencode') };
}

function mockAgent(file: string) {
  const write = { name: 'write', arguments: { filePath: file, content: 'by a tool\n' }, pieces: 6 };
  const script = { tool_calls: [write], after_tools: 'I have written it.', pace_ms: 5 };
  return {
    name: 'mock',
    kind: 'mock' as const,
    nodes: ['*'],
    targets: [{ name: 'echo' }, { name: 'agent', script }],
  };
}

function configuration(edge: Edge) {
  const options = { baseURL: `${edge.url}/v1`, apiKey: edge.apiKey };
  const models = { 'mock/agent': { name: 'agent', tool_call: true }, 'mock/echo': { name: 'echo' } };
  return {
    provider: { iop: { npm: '@ai-sdk/openai-compatible', name: 'IOP', options, models } },
    model: 'iop/mock/agent',
    // it also asks for a title
    small_model: 'iop/mock/echo',
    permission: { edit: 'allow' },
    autoupdate: false,
    share: 'disabled',
  };
}

/** Nothing of the user's own, and no looking around on the network. */
function environment(homeDir: string): string[] {
  const off = [
    'OPENCODE_DISABLE_MODELS_FETCH',
    'OPENCODE_DISABLE_AUTOUPDATE',
    'OPENCODE_DISABLE_LSP_DOWNLOAD',
  ];
  return [`PATH=${process.env.PATH}`, `HOME=${homeDir}`, 'NO_COLOR=1', ...off.map((name) => `${name}=1`)];
}

interface Line {
  type: string;
  part: { tool?: string; state?: { status: string }; reason?: string; text?: string };
}

function toStep(line: string): string {
  const { type, part } = JSON.parse(line) as Line;
  return [type, part.tool, part.state?.status, part.reason, part.text].filter(Boolean).join(' ');
}
