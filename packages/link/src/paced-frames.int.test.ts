import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, RunEventsSchema } from '@iop/wire';
import { attemptLink } from './attempt.ts';
import { dialTcp, listenTcp } from './tcp/index.ts';
import { rawEvent } from './testing/events.ts';
import { createTestAcceptor, testDial, until } from './testing/link-host.ts';

/**
 * F28: small frames at a steady pace must not wait for one another. With Nagle's algorithm on and acks delayed, most would
 * arrive some 40 ms late. The median is judged, so that a busy machine does not matter.
 */
const never = new AbortController().signal;

for (const tls of [false, true]) {
  for (const [sizeBytes, paceMs] of [
    [1, 1],
    [200, 5],
    [200, 20],
  ] as const) {
    test(`${sizeBytes}-byte events every ${paceMs} ms are not held back over ${tls ? 'TLS' : 'TCP'} (F28)`, {
      timeout: 30_000,
    }, async (t) => {
      const delays: number[] = [];
      const sentAt: number[] = [];
      const host = createTestAcceptor();
      host.onMessage = (message) => {
        if (message.case !== 'runEvents') return;
        delays.push(performance.now() - (sentAt[message.value.firstSeq] as number));
      };
      const listener = await listenTcp({
        host: '127.0.0.1',
        port: 0,
        tls,
        identity: host.identity,
        onTransport: host.acceptor.accept,
      });
      const dial = dialTcp({ ...listener.address, tls, pins: [host.pin] });
      const options = testDial({ dial, pins: [host.pin] });
      const linked = await attemptLink(options, never);
      assert.ok(linked.kind === 'linked');
      t.after(() => {
        linked.link.destroy('over');
        return listener.close();
      });
      const count = Math.round(600 / paceMs);
      const events = [rawEvent(new Uint8Array(sizeBytes))];
      const timer = setInterval(() => {
        const firstSeq = sentAt.length;
        if (firstSeq === count) return clearInterval(timer);
        sentAt.push(performance.now());
        linked.link.send({
          case: 'runEvents',
          value: create(RunEventsSchema, { runId: 'r', attempt: 1, firstSeq, events }),
        });
      }, paceMs);
      await until(() => delays.length === count, 'all events arrived', 25_000);
      const median = delays.sort((a, b) => a - b)[Math.floor(count / 2)] as number;
      assert.ok(median < 10, `the median delay is ${median.toFixed(1)} ms`);
    });
  }
}
