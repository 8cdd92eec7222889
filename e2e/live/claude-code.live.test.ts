/**
 * Claude Code from npm with the Edge as its only model server: a whole turn with a tool call, offline, and a turn that
 * is interrupted. The model is the mock, or a scripted model server; everything else is what its users run.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Edge } from '../harness/edge.ts';
import { eventually } from '../harness/eventually.ts';
import type { Upstream } from '../harness/upstream.ts';
import { openWorld, type World } from '../harness/world.ts';
import { openScratch, run } from './scratch.ts';

const version = '2.1.332';
const claude = await install();
const skip = claude.kind === 'missing' ? `no Claude Code: ${claude.reason}` : false;

describe(`Claude Code ${version} with the Edge as its model server`, { timeout: 400_000 }, () => {
  let world: World;
  let edge: Edge;
  let upstream: Upstream;
  let home: string;
  let project: string;
  before(async () => {
    if (claude.kind === 'missing') return;
    home = mkdtempSync(join(openScratch(), 'claude-home-'));
    project = join(home, 'project');
    mkdirSync(project);
    world = openWorld();
    upstream = await world.upstream();
    const vllm = { name: 'vllm', kind: 'vllm' as const, nodes: ['*'], base_url: upstream.baseUrl };
    edge = await world.edge({ adapters: [mockAgent(join(project, 'hello.txt')), vllm] });
    await world.node(edge, { name: 'n1' });
  });
  after(async () => {
    await world?.close();
    if (home !== undefined) rmSync(home, { recursive: true, force: true });
  });

  function command(model: string, prompt: string): string[] {
    assert.ok(claude.kind === 'ready');
    const flags = [
      '--model',
      model,
      '--allowedTools',
      'Write',
      '--output-format',
      'stream-json',
      '--verbose',
    ];
    return ['env', '-i', ...environment(home, edge), claude.program, '-p', prompt, ...flags];
  }

  test('a turn: it is told to write a file, writes it, says so, and ends well', { skip }, async () => {
    const done = await run(command('mock/agent', 'Write hello.txt'), 120_000, project);
    assert.ok(done.ok, done.output);
    assert.equal(readFileSync(join(project, 'hello.txt'), 'utf8'), 'by a tool\n');
    const last = resultOf(done.output);
    assert.deepEqual([last.subtype, last.is_error, last.result], ['success', false, 'I have written it.']);
    const runs = await edge.runs();
    assert.deepEqual([...new Set(runs.map(({ door }) => door))], ['anthropic']);
    assert.ok(runs.length >= 2 && runs.every(({ end }) => end?.kind === 'completed'), JSON.stringify(runs));
  });

  test('a turn that is interrupted leaves no request open at the model server', { skip }, async () => {
    upstream.act({ kind: 'stream', chunks: Array(100_000).fill('word '), paceMs: 20 });
    const [file = '', ...args] = command('m', 'Talk for ever');
    const child = spawn(file, args, { cwd: project, stdio: 'ignore' });
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const request = await upstream.arrival(0, 60_000);
    await eventually('some words went out', 10_000, () => request.sentAt.length > 20);
    child.kill('SIGINT');
    await upstream.closed(request, 10_000);
    assert.equal(request.finished, false);
    const end = await eventually('the run ends', 5_000, async () => (await edge.runs())[0]?.end);
    assert.deepEqual(end, { kind: 'cancelled', by: 'caller' });
    await exited;
    assert.equal(upstream.open(), 0);
  });
});

type Installed = { kind: 'ready'; program: string } | { kind: 'missing'; reason: string };

/** The program itself, which is in a package for this machine; the one that is asked for would only link it. */
async function install(): Promise<Installed> {
  const folder = join(openScratch(), `claude-code-${version}`);
  mkdirSync(folder, { recursive: true });
  const npm = ['npm', 'install', '--ignore-scripts', '--prefix', folder, '--no-audit', '--no-fund'];
  const { ok, output } = await run([...npm, `@anthropic-ai/claude-code@${version}`], 300_000);
  if (!ok) return { kind: 'missing', reason: output.slice(-500) };
  const scope = join(folder, 'node_modules', '@anthropic-ai');
  const native = readdirSync(scope).find((name) => name.startsWith('claude-code-'));
  if (native === undefined) return { kind: 'missing', reason: 'npm has none for this machine' };
  return { kind: 'ready', program: join(scope, native, 'claude') };
}

function mockAgent(file: string) {
  const write = { name: 'Write', arguments: { file_path: file, content: 'by a tool\n' }, pieces: 6 };
  const script = { tool_calls: [write], after_tools: 'I have written it.', pace_ms: 5 };
  return {
    name: 'mock',
    kind: 'mock' as const,
    nodes: ['*'],
    targets: [{ name: 'echo' }, { name: 'agent', script }],
  };
}

/** Nothing of the user's own, and no looking around on the network. */
function environment(homeDir: string, { url, apiKey }: Edge): string[] {
  const own = { PATH: process.env.PATH, HOME: homeDir, TERM: 'dumb' };
  const server = { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: apiKey };
  const off = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' };
  return Object.entries({ ...own, ...server, ...off }).map(([name, value]) => `${name}=${value}`);
}

interface Result {
  type: string;
  subtype: string;
  is_error: boolean;
  result: string;
}

function resultOf(output: string): Result {
  const lines = output.split('\n').filter((line) => line.startsWith('{"'));
  const last = lines.map((line) => JSON.parse(line) as Result).findLast(({ type }) => type === 'result');
  assert.ok(last !== undefined, output);
  return last;
}
