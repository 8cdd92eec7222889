// F10: what a killed Node left running is ended by the one that comes after it, and nothing else is.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { alive, eventually } from '../outbound/adapters/cli/cli-fixture.ts';
import { cliConfig, type FakeLink, resume, startFakeEdge, wireRequest } from '../testing/fake-edge.ts';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
const hasSetsid = existsSync('/usr/bin/setsid') && existsSync('/proc/self/stat');
const limit = { timeout: 60_000, ...(hasSetsid ? {} : { skip: 'needs /proc and setsid' }) };

/** Eight processes that end by themselves after 25 s: in the group, beside it, without parents, deaf to TERM. */
const tree = `
(setsid sh -c 'sleep 25 & exec sleep 25' &)
setsid sh -c "trap '' TERM; for i in 1 2 3 4 5; do sleep 5; done" &
nohup sleep 25 >/dev/null 2>&1 &
sleep 25 &
sleep 0.3
echo up
sleep 25`;

interface Lab {
  stateDir: string;
  directory: string;
  start(): ChildProcess & { stderr: Readable };
  marks(): string[];
  link(n: number): Promise<FakeLink>;
}

async function createLab(test: TestContext): Promise<Lab> {
  const edge = await startFakeEdge();
  test.after(() => edge.close());
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'iop-node-')));
  test.after(() => rmSync(directory, { recursive: true }));
  const stateDir = join(directory, 'state');
  const configFile = join(directory, 'node.yaml');
  const config = {
    name: 'node-1',
    state_dir: stateDir,
    edge: { address: `127.0.0.1:${edge.port}`, pins: [edge.pin], tls: false },
    allow: { programs: ['/bin/sh'], directories: [directory] },
  };
  writeFileSync(configFile, JSON.stringify(config));
  const runs = join(stateDir, 'cli-runs');
  return {
    stateDir,
    directory,
    link: (n) => edge.link(n),
    marks: () => readdirSync(runs).map((name) => name.replace(/\.jsonl$/, '')),
    start() {
      const command = [main, 'serve', '--config', configFile];
      const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] });
      // A full pipe would hold it up.
      child.stderr.on('data', () => {});
      test.after(() => child.kill('SIGKILL'));
      return child;
    },
  };
}

/** Until the program of a run has said `up`. */
async function runUp(lab: Lab, link: FakeLink, profile: object, runClass: 1 | 2 = 1): Promise<void> {
  await link.next('runInventory');
  link.send(resume());
  link.send(cliConfig('agent', { program: '/bin/sh', directory: lab.directory, ...profile }));
  await link.next('edgeNodeEvent');
  link.send(wireRequest('r1', { adapter: 'cli', target: 'agent', runClass }));
  await link.next('runEvents', ({ events }) => events.some(({ kind }) => kind.case === 'text'));
}

/** Somebody else's: without a mark, and with the mark of a run that this Node does not know. */
function startForeign(test: TestContext): ChildProcess[] {
  const marked = { IOP_RUN_MARK: 'f'.repeat(32), PATH: process.env.PATH };
  return [process.env, marked].map((env) => {
    const child = spawn('/bin/sleep', ['25'], { stdio: 'ignore', detached: true, env });
    test.after(() => child.kill('SIGKILL'));
    return child;
  });
}

describe('F10: a Node that is killed', () => {
  it('is swept after within 5 s of its next start, and no other process is touched', limit, async (test) => {
    const lab = await createLab(test);
    const foreign = startForeign(test);
    const first = lab.start();
    await runUp(lab, await lab.link(0), { args: ['-c', tree] });
    const marks = lab.marks();
    assert.equal(marks.length, 1);
    first.kill('SIGKILL');
    await once(first, 'exit');
    assert.ok(alive(marks).length >= 7, `only ${alive(marks).length} live on: there is nothing to sweep`);

    const startedAt = performance.now();
    const second = lab.start();
    // How long a process takes to start is the machine's affair: the time counts from its first word.
    assert.match(String(await once(second.stderr, 'data')), /ending what is left/);
    const firstWordAt = performance.now();
    await eventually(() => alive(marks).length === 0, 'nothing of the run is alive', 5_000);
    const [sinceStartMs, sinceWordMs] = [startedAt, firstWordAt].map((at) =>
      Math.round(performance.now() - at),
    );
    test.diagnostic(`swept ${sinceStartMs} ms after the start, ${sinceWordMs} ms after its first word`);
    await lab.link(1);
    assert.deepEqual(lab.marks(), []);
    for (const child of foreign) assert.equal(child.exitCode ?? child.signalCode, null);
    second.kill('SIGTERM');
    assert.deepEqual(await once(second, 'exit'), [0, null]);
  });

  it('keeps of a run no more than what ends it', limit, async (test) => {
    const lab = await createLab(test);
    const program = lab.start();
    await runUp(lab, await lab.link(0), { args: ['-c', 'echo up; cat; sleep 25'] });
    const [mark] = lab.marks();
    const text = readFileSync(join(lab.stateDir, 'cli-runs', `${mark}.jsonl`), 'utf8');
    const lines = text.trimEnd().split('\n');
    const keys = new Set(lines.flatMap((line) => Object.keys(JSON.parse(line))));
    assert.deepEqual([...keys].toSorted(), ['attempt', 'cgroup', 'leader', 'mark', 'runId']);
    program.kill('SIGKILL');
    await once(program, 'exit');
    const next = lab.start();
    await lab.link(1);
    assert.deepEqual(alive([String(mark)]), []);
    next.kill('SIGTERM');
    await once(next, 'exit');
  });
});

describe('a detached run that the Edge no longer wants', () => {
  it('K9: is dropped on the next link, and its whole tree with it', limit, async (test) => {
    const lab = await createLab(test);
    const program = lab.start();
    const first = await lab.link(0);
    await runUp(lab, first, { args: ['-c', tree] }, 2);
    const marks = lab.marks();
    first.link.destroy('cut by the test');
    const second = await lab.link(1);
    assert.equal((await second.next('runInventory')).entries.length, 1);
    assert.ok(alive(marks).length >= 7, 'it goes on without a link');
    second.send(resume({ runId: 'r1', attempt: 1, drop: true }));
    await eventually(() => alive(marks).length === 0, 'nothing of the run is alive', 15_000);
    program.kill('SIGTERM');
    assert.deepEqual(await once(program, 'exit'), [0, null]);
  });
});

describe('a Node that is stopped', () => {
  it('leaves nothing behind, also of a program that will not end', limit, async (test) => {
    const lab = await createLab(test);
    const program = lab.start();
    const script = "trap '' TERM; echo up; for i in $(seq 250); do sleep 0.1; done";
    await runUp(lab, await lab.link(0), { args: ['-c', script], grace: '1m' });
    const marks = lab.marks();
    program.kill('SIGTERM');
    assert.deepEqual(await once(program, 'exit'), [0, null]);
    await eventually(() => alive(marks).length === 0, 'the kernel has ended it', 1_000);
  });
});
