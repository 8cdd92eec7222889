import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, RunAckSchema, type WireMessage } from '@iop/wire';
import { attemptLink } from './attempt.ts';
import { dialTcp, listenTcp } from './tcp/index.ts';
import { FakePeer } from './testing/fake-peer.ts';
import { createTestAcceptor, newIdentity, testDial, testHello, until } from './testing/link-host.ts';

/** F16 over a real socket: a proven peer that sends a million tiny frames, while another link works. */
const never = new AbortController().signal;
const frames = 1_000_000;

const pingFrame = Buffer.from([0, 0, 0, 4, 0x52, 0x02, 0x08, 0x05]);
const block = Buffer.concat(Array.from({ length: 10_000 }, () => pingFrame));

const ack = (seq: number): WireMessage => ({
  case: 'runAck',
  value: create(RunAckSchema, { entries: [{ runId: 'r', attempt: 1, seq }] }),
});

for (const reads of [true, false]) {
  test(`a million tiny frames from a peer that ${reads ? 'reads' : 'does not read'} the answers harm nobody (F16)`, {
    timeout: 120_000,
  }, async (t) => {
    const host = createTestAcceptor();
    const listener = await listenTcp({
      host: '127.0.0.1',
      port: 0,
      tls: false,
      identity: host.identity,
      onTransport: host.acceptor.accept,
    });
    const dial = dialTcp({ ...listener.address, tls: false, pins: [host.pin] });
    const other = testDial({ dial, pins: [host.pin], hello: () => testHello({ name: 'other' }) });
    const linked = await attemptLink(other, never);
    assert.ok(linked.kind === 'linked');
    const peer = new FakePeer(await dial(never), {
      identity: newIdentity(),
      hello: testHello(),
      pins: [host.pin],
    });
    t.after(() => {
      peer.transport.destroy();
      linked.link.destroy('over');
      return listener.close();
    });
    await peer.enter();
    await until(() => host.links.length === 2, 'both are live');
    if (!reads) peer.transport.pause();
    const before = process.memoryUsage.rss();
    let answered = 0;
    for (let sent = 0; sent < frames && peer.closeReason === undefined; sent += 10_000) {
      peer.sendBytes(block);
      linked.link.send(ack(++answered));
      await new Promise((resolve) => setImmediate(resolve));
      peer.received.length = 0;
    }
    await until(() => host.links[0]?.messages.length === answered, 'the other link works', 60_000);
    const flooded = host.links[1];
    if (!reads)
      await until(() => flooded?.outcome?.kind === 'lost' || flooded?.outcome === undefined, 'bounded');
    const grownMiB = (process.memoryUsage.rss() - before) / 1024 / 1024;
    assert.ok(grownMiB < 256, `memory grew by ${grownMiB.toFixed(0)} MiB`);
  });
}
