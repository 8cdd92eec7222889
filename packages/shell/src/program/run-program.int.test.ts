import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const fixture = fileURLToPath(new URL('./fixture-program.ts', import.meta.url));

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

function start(
  args: readonly string[],
  env: Record<string, string> = {},
): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [fixture, ...args], {
    env: { ...process.env, ...env },
    timeout: 20_000,
  });
  const ended = new Promise<Ended>((resolve) => {
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    child.on('close', (code) => resolve({ code, out, err }));
  });
  return { child, ended };
}

/** Starts a command that says `ready` when it waits. */
async function startWaiting(command: string, env: Record<string, string> = {}) {
  const started = start([command], env);
  if (started.child.stdout !== null) await once(started.child.stdout, 'data');
  return started;
}

test('a command that ends well exits 0 with all of its output', async () => {
  const { code, out } = await start(['big']).ended;
  assert.equal(code, 0);
  assert.equal(out.length, 1_000_000);
});

test('an error is printed once and gives the exit code of its kind', async () => {
  assert.deepEqual(await start(['fail', 'unavailable']).ended, {
    code: 69,
    out: '',
    err: 'fixture: it failed\n',
  });
  const json = await start(['fail', 'timeout', '--json']).ended;
  assert.equal(json.code, 75);
  assert.deepEqual(JSON.parse(json.err), {
    error: { kind: 'timeout', code: 'x', message: 'it failed', details: {} },
  });
});

test('a wrong command line exits 64', async () => {
  const { code, err } = await start(['fial']).ended;
  assert.equal(code, 64);
  assert.match(err, /unknown command 'fial'/);
});

test('what nobody caught is a bug and exits 70', async () => {
  for (const how of ['throw-later', 'reject']) {
    const { code, err } = await start([how]).ended;
    assert.equal(code, 70, how);
    assert.match(err, /nobody caught me[\s\S]*This is a bug/);
  }
});

test('SIGINT stops a command, which may end in order, and exits 130', async () => {
  const { child, ended } = await startWaiting('wait');
  child.kill('SIGINT');
  assert.deepEqual(await ended, { code: 130, out: 'ready\nstopped\n', err: '' });
});

test('SIGTERM is how a service is stopped and exits 0', async () => {
  const { child, ended } = await startWaiting('wait');
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0);
});

test('a second SIGINT ends the process at once', async () => {
  const { child, ended } = await startWaiting('hang');
  child.kill('SIGINT');
  if (child.stdout !== null) await once(child.stdout, 'data');
  child.kill('SIGINT');
  assert.equal((await ended).code, 130);
});

test('a command that does not stop is ended', async () => {
  const { child, ended } = await startWaiting('hang-briefly');
  child.kill('SIGTERM');
  const { code, err } = await ended;
  assert.equal(code, 75);
  assert.match(err, /did not stop within 200 ms/);
});

test('the end of stdin stops a command whose parent asked for it', async () => {
  const { child, ended } = await startWaiting('wait', { IOP_STOP_ON_STDIN_END: '1' });
  child.stdin?.end();
  assert.deepEqual(await ended, { code: 0, out: 'ready\nstopped\n', err: '' });
});

test('the end of stdin means nothing otherwise', async () => {
  const { child, ended } = await startWaiting('wait');
  child.stdin?.end();
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(child.exitCode, null);
  child.kill('SIGTERM');
  await ended;
});

test('a reader that leaves stops a command without a bug report', async () => {
  const { child, ended } = await startWaiting('chatter');
  child.stdout?.destroy();
  const { code, err } = await ended;
  assert.equal(err, '');
  assert.equal(code, 141);
});

test('the version is there before any command is loaded', async () => {
  const { code, out } = await start(['--version']).ended;
  assert.deepEqual([code, out], [0, 'fixture 1.0.0\n']);
});
