// `iop`, the operator's command line, against a real Edge and Node.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from './harness/eventually.ts';
import { type IopEnded, iop as iopOn, startIop } from './harness/iop.ts';
import { at, openScene, type Scene } from './harness/scene.ts';

const limit = { timeout: 60_000 };

describe('iop', () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene();
  }, limit);
  after(() => scene.world.close());

  const iop = (...args: string[]): Promise<IopEnded> => iopOn(scene.edge, ...args);
  const overTcp = (): string[] => [
    '--edge',
    `127.0.0.1:${scene.edge.wirePort}`,
    '--pin',
    scene.edge.pin,
    '--token-file',
    scene.edge.operatorTokenFile,
  ];

  test('lists the Node and what can be run', limit, async () => {
    assert.match((await iop('nodes')).out, /^n1 +ready +0 +.*mock\(1\)/m);
    const targets = JSON.parse((await iop('targets', '--json')).out) as {
      targets: { name: string; nodes: string[] }[];
    };
    assert.deepEqual(targets.targets.map((target) => target.name).toSorted(), ['echo', 'm']);
    assert.deepEqual(at(targets.targets, 0).nodes, ['n1']);
  });

  test('runs a prompt and streams the answer', limit, async () => {
    const { code, out } = await iop('run', '-a', 'mock', '-t', 'echo', 'Good morning');
    assert.deepEqual([code, out], [0, 'Good morning\n']);
  });

  test('runs on the Node that was asked for, and names one that is not there', limit, async () => {
    assert.equal((await iop('run', '-a', 'mock', '-t', 'echo', '-n', 'n1', 'x')).code, 0);
    const { code, err } = await iop('run', '-a', 'mock', '-t', 'echo', '-n', 'n9', 'x');
    assert.ok(code === 64 || code === 69, `${code} ${err}`);
    assert.match(err, /n9/);
  });

  test('says that a target is not known', limit, async () => {
    const { code, err } = await iop('run', '-a', 'mock', '-t', 'ecko', 'x');
    assert.equal(code, 64, err);
    assert.match(err, /ecko/);
  });

  test('shows every event and the end as JSON lines', limit, async () => {
    const { code, out } = await iop('run', '-a', 'mock', '-t', 'echo', '--json', 'Hi');
    assert.equal(code, 0);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; end?: { kind: string } });
    assert.equal(at(lines, 0).kind, 'started');
    assert.ok(lines.some((line) => line.kind === 'event'));
    assert.equal(lines.at(-1)?.end?.kind, 'completed');
  });

  test('Ctrl-C cancels the run, and the record says so', limit, async () => {
    const prompt = '<mock>{"size":"64KiB","chunks":2000,"pace_ms":20}</mock>';
    const run = startIop([
      'run',
      '-a',
      'mock',
      '-t',
      'echo',
      '--json',
      '--socket',
      scene.edge.socketPath,
      prompt,
    ]);
    await eventually('the answer begins', 20_000, () => run.text.out.includes('"kind":"event"'));
    run.child.kill('SIGINT');
    const { code, out } = await run.ended;
    assert.equal(code, 130);
    const { runId } = JSON.parse(out.split('\n')[0] ?? '') as { runId: string };
    const record = await scene.edge.runEnded(runId);
    assert.equal(record.state, 'cancelled');
  });

  test('a run is cancelled by another operator, who finds it in the list', limit, async () => {
    const prompt = '<mock>{"size":"64KiB","chunks":2000,"pace_ms":20}</mock>';
    const run = startIop(['run', '-a', 'mock', '-t', 'echo', '--socket', scene.edge.socketPath, prompt]);
    await eventually('the answer begins', 20_000, () => run.text.out !== '');
    const listed = JSON.parse((await iop('runs', '--state', 'running', '--json')).out) as {
      runs: { runId: string }[];
    };
    const { runId } = at(listed.runs, 0);
    assert.match((await iop('cancel', runId)).out, /is (stopping|cancelled)/);
    const { code, err } = await run.ended;
    assert.equal(code, 75);
    assert.match(err, /cancelled/);
    assert.match((await iop('cancel', runId)).out, /is cancelled|had already ended/);
  });

  test('a run that fails says why', limit, async () => {
    const { code, err } = await iop('run', '-a', 'mock', '-t', 'echo', '<mock>{"cut":{"at":1}}</mock>');
    assert.notEqual(code, 0);
    assert.match(err, /^iop: ./m);
  });

  test('a run that nobody knows cannot be cancelled', limit, async () => {
    const { code, err } = await iop('cancel', `run_${'0'.repeat(26)}`);
    assert.equal(code, 64, err);
  });

  test('keys are made, listed and revoked, and count at once', limit, async () => {
    const { out: secret } = await iop('keys', 'create', 'laptop');
    const models = (): Promise<Response> =>
      fetch(`${scene.edge.url}/v1/models`, { headers: { authorization: `Bearer ${secret.trim()}` } });
    assert.equal((await models()).status, 200);
    const id = secret.split('_')[1] ?? '';
    assert.match((await iop('keys')).out, new RegExp(`^${id} +laptop +valid`, 'm'));
    assert.equal((await iop('keys', 'revoke', id)).code, 0);
    assert.equal((await models()).status, 401);
    assert.match((await iop('keys')).out, new RegExp(`^${id} +laptop +revoked`, 'm'));
  });

  test('works over TCP with pin and token', limit, async () => {
    const { code, out } = await startIop(['run', '-a', 'mock', '-t', 'echo', 'far away', ...overTcp()]).ended;
    assert.deepEqual([code, out], [0, 'far away\n']);
  });

  test('a wrong pin and a wrong token are refused in words', limit, async () => {
    const wrongPin = await startIop(['nodes', ...overTcp().with(3, `sha256:${'0'.repeat(64)}`)]).ended;
    assert.equal(wrongPin.code, 78, wrongPin.err);
    assert.match(wrongPin.err, /pin/);
    const token = join(scene.world.dir, 'wrong.token');
    writeFileSync(token, 'nonsense\n', { mode: 0o600 });
    const wrongToken = await startIop(['nodes', ...overTcp().with(5, token)]).ended;
    assert.equal(wrongToken.code, 78, wrongToken.err);
    assert.match(wrongToken.err, /token/);
  });
});
