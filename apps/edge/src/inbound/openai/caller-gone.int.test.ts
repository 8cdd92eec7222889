import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, createHttpClock, hello, openHttpLab } from '../../testing/http-lab.ts';
import { connectRaw, rawRequest } from '../../testing/raw-client.ts';

const whole = rawRequest({ headers: bearer, body: JSON.stringify(hello) });
const streamed = rawRequest({ headers: bearer, body: JSON.stringify({ ...hello, stream: true }) });

/** A run that was cancelled for its caller, once; whatever it still says is ignored. */
async function assertCancelledOnce(
  run: Awaited<ReturnType<Awaited<ReturnType<typeof openHttpLab>>['edge']['run']>>,
) {
  assert.equal(await run.cancelled, 'caller');
  const consumedBytes = run.consumedBytes;
  run.raw('data: {}\n\n');
  run.end({ kind: 'cancelled', by: 'caller' });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(run.cancels, ['caller']);
  assert.equal(run.consumedBytes, consumedBytes);
}

for (const [name, request] of [
  ['streaming', streamed],
  ['not streaming', whole],
] as const) {
  test(`a caller that goes away while queued (${name}) cancels its run at once and once`, async () => {
    await using lab = await openHttpLab();
    const client = await connectRaw(lab.port);
    client.send(request);
    const run = await lab.edge.run(0);
    client.destroy();
    await assertCancelledOnce(run);
  });

  test(`a caller that goes away before the first token (${name}) cancels its run`, async () => {
    await using lab = await openHttpLab();
    const client = await connectRaw(lab.port);
    client.send(request);
    const run = await lab.edge.run(0);
    run.dispatch();
    run.emit({ kind: 'progress', message: 'loading' });
    client.destroy();
    await assertCancelledOnce(run);
  });

  test(`a caller that resets its connection (${name}) cancels its run`, async () => {
    await using lab = await openHttpLab();
    const client = await connectRaw(lab.port);
    client.send(request);
    const run = await lab.edge.run(0);
    client.socket.resetAndDestroy();
    await assertCancelledOnce(run);
  });

  test(`a caller that only closes its sending side (${name}) counts as gone`, async () => {
    await using lab = await openHttpLab();
    const client = await connectRaw(lab.port);
    client.send(request);
    const run = await lab.edge.run(0);
    client.socket.end();
    await assertCancelledOnce(run);
  });
}

test('a caller that goes away in the middle of a stream cancels its run', async () => {
  await using lab = await openHttpLab();
  const client = await connectRaw(lab.port);
  client.send(streamed);
  const run = await lab.edge.run(0);
  run.raw('data: {"a":1}\n\n');
  await client.until(/"a":1/);
  client.destroy();
  await assertCancelledOnce(run);
});

test('a caller that goes away while it was not reading cancels its run', async () => {
  await using lab = await openHttpLab();
  const client = await connectRaw(lab.port);
  client.socket.pause();
  client.send(streamed);
  const run = await lab.edge.run(0);
  for (let i = 0; i < 2000; i++) run.raw(`data: ${'x'.repeat(8000)}\n\n`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  client.destroy();
  await assertCancelledOnce(run);
});

test('a caller that goes away between heartbeats cancels its run, and the heart stops', async () => {
  const clock = createHttpClock();
  await using lab = await openHttpLab({ clock });
  const client = await connectRaw(lab.port);
  client.send(streamed);
  const run = await lab.edge.run(0);
  clock.advance(10_000);
  await client.until(/: keep-alive\n/);
  client.destroy();
  await assertCancelledOnce(run);
  clock.advance(60_000);
  assert.equal(clock.pending, 0);
});

test('a caller that goes away in the middle of its body starts nothing', async () => {
  await using lab = await openHttpLab();
  const client = await connectRaw(lab.port);
  client.send(whole.slice(0, -10));
  await new Promise((resolve) => setTimeout(resolve, 20));
  client.destroy();
  await lab.chat({});
  assert.equal(lab.edge.runs.length, 0);
});

test('all requests of a pipelined connection are cancelled with it', async () => {
  await using lab = await openHttpLab();
  const client = await connectRaw(lab.port);
  client.send(whole + streamed + whole);
  const runs = await Promise.all([lab.edge.run(0), lab.edge.run(1), lab.edge.run(2)]);
  client.destroy();
  for (const run of runs) await assertCancelledOnce(run);
});

test('a run that has ended is not cancelled when its caller leaves with the answer', async () => {
  await using lab = await openHttpLab();
  const client = await connectRaw(lab.port);
  client.send(streamed);
  const run = await lab.edge.run(0);
  run.raw('data: {"a":1}\n\n');
  run.complete();
  await client.until(/\[DONE\]/);
  client.destroy();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(run.cancels, []);
});

test('a keep-alive connection serves many requests without collecting listeners', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => run.complete();
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  const client = await connectRaw(lab.port);
  for (let i = 1; i <= 50; i++) {
    const before = client.received().length;
    client.send(i % 2 === 0 ? streamed : whole);
    while (!/"finish_reason":"stop"[\s\S]*(\}|0\r\n\r\n)$/.test(client.received().slice(before))) {
      await new Promise((resolve) => client.socket.once('data', resolve));
    }
  }
  process.off('warning', onWarning);
  client.destroy();
  assert.deepEqual(warnings, []);
});
