// docs/wire.md is enough to write a client in another language: the one in Python that stands beside it works.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from './harness/eventually.ts';
import { iop, startIop } from './harness/iop.ts';
import { openScene, type Scene } from './harness/scene.ts';
import { transcript, type WatchLine, watchLines } from './harness/watched.ts';

const limit = { timeout: 90_000 };
const script = join(import.meta.dirname, '../docs/examples/iop_client.py');
const hasPython = spawnSync('python3', ['--version']).status === 0;
const skip = hasPython ? false : 'python3 is not installed here';

/** A line of its watch. */
interface Shown {
  pos: number;
  kind: string;
  text?: string;
  end?: string;
}

describe('the client in Python', { skip, timeout: 300_000 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene();
  }, limit);
  after(() => scene?.world.close());

  function start(...args: string[]) {
    const child = spawn('python3', [script, scene.edge.socketPath, ...args], {
      env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
    });
    const text = { out: '', err: '' };
    child.stdout.on('data', (chunk) => {
      text.out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      text.err += chunk;
    });
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    return { text, ended };
  }

  async function run(...args: string[]): Promise<string> {
    const { text, ended } = start(...args);
    assert.equal(await ended, 0, text.err);
    return text.out.trim();
  }

  const shown = ({ text }: ReturnType<typeof start>): Shown[] =>
    text.out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Shown);

  test('starts a detached run and watches it to its end, across a killed Edge', limit, async () => {
    const words = Array.from({ length: 50 }, (_, index) => `w${index}`).join(' ');
    const runId = await run(
      'start',
      'mock',
      'echo',
      `<mock>${JSON.stringify({ text: words, pace_ms: 100 })}</mock>`,
    );
    assert.match(runId, /^run_[0-9a-z]{26}$/);
    const watch = start('watch', runId);
    await eventually('it is seen', 20_000, () => shown(watch).length > 5);
    await scene.edge.program.kill();
    await scene.edge.start();
    assert.equal(await watch.ended, 0, watch.text.err);
    assert.match(watch.text.err, /trying again/);
    const whole = startIop(['watch', runId, '--json', '--socket', scene.edge.socketPath]);
    await whole.ended;
    const lines = watchLines(whole);
    assert.deepEqual(
      shown(watch).map(({ pos, kind, text, end }) =>
        kind === 'end' ? `${pos} end ${end}` : `${pos} ${kind} ${text ?? ''}`,
      ),
      transcript(lines.map((line): WatchLine => line)),
    );
    const rest = start('watch', runId, String(lines.length - 1));
    assert.equal(await rest.ended, 0);
    assert.deepEqual(shown(rest), [{ pos: lines.length, kind: 'end', end: 'completed' }]);
  });

  test('cancels a run, and lists what became of both', limit, async () => {
    const runId = await run(
      'start',
      'mock',
      'echo',
      '<mock>{"size":"1MiB","chunks":9000,"pace_ms":20}</mock>',
    );
    const watch = start('watch', runId);
    await eventually('it is seen', 20_000, () => shown(watch).length > 1);
    assert.match(await run('cancel', runId), /^(stopping|cancelled)$/);
    assert.equal(await watch.ended, 0, watch.text.err);
    assert.equal(shown(watch).at(-1)?.end, 'cancelled');
    const listed = await run('runs');
    assert.match(listed, new RegExp(`^${runId} cancelled mock/echo$`, 'm'));
    assert.match(listed, /completed mock\/echo$/m);
    assert.match((await iop(scene.edge, 'why', runId)).out, /^end +cancelled: by operator$/m);
  });

  test('is refused in words', limit, async () => {
    const { text, ended } = start('watch', `run_${'0'.repeat(26)}`);
    assert.equal(await ended, 1);
    assert.match(text.err, /run\.unknown: no run run_0+ is known here/);
  });
});
