import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertPortsFree } from './free-ports.ts';
import { Parts } from './parts.ts';
import { planUp } from './plan.ts';

const logDir = mkdtempSync(join(tmpdir(), 'iop-parts-'));
after(() => rmSync(logDir, { recursive: true }));
const limit = { timeout: 30_000 };

const never = new Promise<never>(() => {});

/** A part that lives until SIGTERM, or 20 s. */
const living = `setTimeout(() => {}, 20_000); process.on('SIGTERM', () => process.exit(0));`;

function command(code: string): string[] {
  return [process.execPath, '-e', code];
}

test(
  'the first part that ends by itself ends the wait, with its exit code and last lines',
  limit,
  async () => {
    await using parts = new Parts();
    parts.start({ name: 'node', command: command(living), logDir });
    parts.start({
      name: 'edge',
      command: command(`console.error('the disk is full'); setTimeout(() => process.exit(78), 50)`),
      logDir,
    });
    await assert.rejects(parts.guard(never), {
      code: 'up.part-ended',
      message: /iop-edge ended by itself \(exit code 78\)[\s\S]*the disk is full/,
      details: { part: 'edge', exitCode: 78 },
    });
  },
);

test('a part that was killed counts as 128 + signal, one that just stopped as a bug', limit, async () => {
  for (const [code, exitCode] of [
    [`process.kill(process.pid, 'SIGKILL')`, 137],
    ['', 70],
  ] as const) {
    await using parts = new Parts();
    parts.start({ name: 'edge', command: command(code), logDir });
    await assert.rejects(parts.guard(never), { details: { part: 'edge', exitCode } });
  }
});

test('a stop ends all parts in order and without complaint', limit, async () => {
  const parts = new Parts();
  parts.start({ name: 'edge', command: command(living), logDir });
  parts.start({ name: 'node', command: command(living), logDir });
  await sleep(300);
  await parts.stop();
});

test('a part that does not end well at a stop is reported', limit, async () => {
  const parts = new Parts();
  const code = `setTimeout(() => {}, 20_000); process.on('SIGTERM', () => process.exit(75)); console.log('up')`;
  const echo = new PassThrough();
  parts.start({ name: 'edge', command: command(code), logDir, echo });
  await new Promise((resolve) => echo.once('data', resolve));
  await assert.rejects(parts.stop(), { code: 'up.bad-stop', details: { exitCode: 75 } });
});

test('the logs of a part go to its file, the one of the start before is kept', limit, async () => {
  for (const word of ['first', 'second']) {
    await using parts = new Parts();
    parts.start({ name: 'edge', command: command(`console.log('${word}')`), logDir });
    await assert.rejects(parts.guard(never), { code: 'up.part-ended' });
  }
  assert.equal(readFileSync(join(logDir, 'edge.log'), 'utf8'), 'second\n');
  assert.equal(readFileSync(join(logDir, 'edge.log.1'), 'utf8'), 'first\n');
});

test('with an echo every line is prefixed with its part', limit, async () => {
  await using parts = new Parts();
  const echo = new PassThrough({ encoding: 'utf8' });
  parts.start({ name: 'node', command: command(`console.log('a'); console.error('b')`), logDir, echo });
  await assert.rejects(parts.guard(never), { code: 'up.part-ended' });
  await sleep(50);
  assert.deepEqual(String(echo.read()).trimEnd().split('\n').toSorted(), ['[node] a', '[node] b']);
});

test('a busy port is named with the next step', limit, async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    await assert.rejects(assertPortsFree(planUp('/x', port)), {
      kind: 'conflict',
      message: new RegExp(`port ${port} \\(wire\\) is in use .*--port-base`),
    });
    if (port > 80) {
      await assert.rejects(assertPortsFree(planUp('/x', port - 80)), {
        message: new RegExp(`port ${port} \\(HTTP\\)`),
      });
    }
  } finally {
    server.close();
  }
});
