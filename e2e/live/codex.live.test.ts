/**
 * Codex CLI from npm over `/v1/responses`, with the Edge as its only model server, offline. The model is the mock;
 * everything else is what its users run.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Edge } from '../harness/edge.ts';
import { eventually } from '../harness/eventually.ts';
import { openWorld, type World } from '../harness/world.ts';
import { openScratch, run } from './scratch.ts';

const version = '0.171.0';
const codex = await install();
const skip = codex.kind === 'missing' ? `no Codex: ${codex.reason}` : false;

describe(`Codex ${version} with the Edge as its model server`, { timeout: 300_000 }, () => {
  let world: World;
  let edge: Edge;
  let home: string;
  before(async () => {
    if (codex.kind === 'missing') return;
    home = mkdtempSync(join(openScratch(), 'codex-home-'));
    mkdirSync(join(home, 'project'));
    world = openWorld();
    edge = await world.edge({ adapters: [mockAgent(join(home, 'project', 'made.txt'))] });
    await world.node(edge, { name: 'n1' });
    writeFileSync(join(home, 'config.toml'), configuration(edge));
  });
  after(async () => {
    await world?.close();
    if (home !== undefined) rmSync(home, { recursive: true, force: true });
  });

  test('a turn: it runs a command, calls a tool of a namespace, and says that it is done', {
    skip,
  }, async () => {
    const done = await run(command(home, edge, 'agent'), 120_000, join(home, 'project'));
    assert.ok(done.ok, done.output);
    assert.equal(readFileSync(join(home, 'project', 'made.txt'), 'utf8'), 'by a tool\n');
    assert.doesNotMatch(done.output, /unsupported call/);
    assert.match(done.output, /"type":"agent_message","text":"It is made\."/);
    assert.match(done.output, /"type":"turn\.completed"/);
  });

  test('stopped in the middle of an answer, it leaves nothing running', { skip }, async () => {
    const [program = '', ...args] = command(home, edge, 'endless');
    const child = spawn(program, args, { cwd: join(home, 'project'), stdio: 'ignore' });
    const gone = once(child, 'exit');
    const isRunning = async () => (await edge.runs()).find(({ state }) => state === 'running');
    const running = await eventually('the turn runs', 60_000, isRunning);
    child.kill('SIGINT');
    const { end } = await edge.runEnded(running.runId, 10_000);
    assert.deepEqual(end, { kind: 'cancelled', by: 'caller' });
    await gone;
  });
});

type Installed = { kind: 'ready'; program: string } | { kind: 'missing'; reason: string };

async function install(): Promise<Installed> {
  const folder = join(openScratch(), `codex-${version}`);
  const program = join(folder, 'node_modules', '.bin', 'codex');
  if (existsSync(program)) return { kind: 'ready', program };
  mkdirSync(folder, { recursive: true });
  const npm = ['npm', 'install', '--prefix', folder, '--no-audit', '--no-fund', `@openai/codex@${version}`];
  const { ok, output } = await run(npm, 300_000);
  return ok ? { kind: 'ready', program } : { kind: 'missing', reason: output.slice(-500) };
}

function mockAgent(file: string) {
  const tools = [
    { name: 'exec_command', arguments: { cmd: `echo by a tool > ${file}` }, pieces: 6 },
    { name: 'multi_agent_v1__close_agent', arguments: { target: 'nobody' } },
  ];
  const agent = { reasoning: 'A file.', tool_calls: tools, after_tools: 'It is made.', pace_ms: 5 };
  const endless = { text: 'one two three four', stall: { at: 2 } };
  return {
    name: 'mock',
    kind: 'mock' as const,
    nodes: ['*'],
    targets: [{ name: 'echo' }, { name: 'agent', script: agent }, { name: 'endless', script: endless }],
  };
}

function configuration(edge: Edge): string {
  return `model_provider = "iop"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.iop]
name = "IOP"
base_url = "${edge.url}/v1"
wire_api = "responses"
env_key = "IOP_KEY"
`;
}

/** Nothing of the user's own. */
function command(home: string, edge: Edge, target: string): string[] {
  assert.ok(codex.kind === 'ready');
  const own = [`PATH=${process.env.PATH}`, `HOME=${home}`, `CODEX_HOME=${home}`, `IOP_KEY=${edge.apiKey}`];
  const exec = ['exec', '--json', '--skip-git-repo-check', '--model', `mock/${target}`, 'Make made.txt'];
  return ['env', '-i', ...own, codex.program, ...exec];
}
