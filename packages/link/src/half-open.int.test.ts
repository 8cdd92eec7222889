import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { create, RunBodySchema } from '@iop/wire';
import { attemptLink } from './attempt.ts';
import { dialTcp, listenTcp } from './tcp/index.ts';
import { openChaosProxy } from './testing/chaos-proxy.ts';
import { createTestAcceptor, type SeenLink, testDial, until } from './testing/link-host.ts';

/**
 * F4 at the level of the link: everything between the two ends is swallowed, and no end is told. Both declare the
 * other dead after three heartbeats and let go of the socket, idle or with data on the way.
 */
const heartbeatIntervalMs = 150;
const never = new AbortController().signal;

const filesOpen = (): number => readdirSync('/proc/self/fd').length;

for (const tls of [false, true]) {
  for (const busy of [false, true]) {
    const what = `${tls ? 'TLS' : 'TCP'}, ${busy ? 'with data on the way' : 'idle'}`;
    test(`a half-open link is declared dead by both ends and its sockets are gone (F4, L8; ${what})`, {
      timeout: 60_000,
    }, async (t) => {
      const host = createTestAcceptor();
      host.decide = () => ({ kind: 'welcome', epoch: 1, heartbeatIntervalMs, fleetSize: 1 });
      const listener = await listenTcp({
        host: '127.0.0.1',
        port: 0,
        tls,
        identity: host.identity,
        onTransport: host.acceptor.accept,
      });
      const proxy = await openChaosProxy(listener.address);
      t.after(() => Promise.all([listener.close(), proxy.close()]));
      const filesBefore = filesOpen();
      const options = testDial({
        dial: dialTcp({ ...proxy.address, tls, pins: [host.pin] }),
        pins: [host.pin],
      });
      const linked = await attemptLink(options, never);
      assert.equal(linked.kind, 'linked');
      await until(() => host.links.length === 1, 'both are live');
      const ends = [options.seen[0], host.links[0]] as SeenLink[];
      await new Promise((resolve) => setTimeout(resolve, 3 * heartbeatIntervalMs));
      assert.deepEqual(
        ends.map((end) => end.outcome),
        [undefined, undefined],
        'heartbeats keep a healthy link alive',
      );

      proxy.blackhole();
      const from = performance.now();
      if (busy) for (const end of ends) fill(end);
      const outcomes = await Promise.all(ends.map((end) => end.closed));
      const tookMs = performance.now() - from;
      for (const outcome of outcomes) {
        assert.ok(outcome.kind === 'silent', JSON.stringify(outcome));
        assert.ok(outcome.silentMs >= 3 * heartbeatIntervalMs, `${outcome.silentMs} ms`);
      }
      assert.ok(tookMs < 20 * heartbeatIntervalMs, `${tookMs} ms`);
      // The proxy's two sockets stay, as the kernel's half of a cut cable would.
      await until(() => filesOpen() <= filesBefore + 2, 'both ends let go of their sockets');
    });
  }
}

/** More than every buffer between the two takes. */
function fill(end: SeenLink): void {
  const data = new Uint8Array(60_000);
  for (let offset = 0; offset < 200; offset++) {
    end.link.send({
      case: 'runBody',
      value: create(RunBodySchema, { runId: 'r', attempt: 1, offset, data }),
    });
  }
}
