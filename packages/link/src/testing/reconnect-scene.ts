import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { createSupervisor, type SupervisorState } from '../supervisor.ts';
import { dialTcp, listenTcp } from '../tcp/index.ts';
import { createTestAcceptor, testDial, until } from './link-host.ts';
import { createManualClock } from './manual-clock.ts';

/**
 * F2: a peer that is down for long, in every way a peer can be down. Attempts go on for ever with a capped delay, each
 * with one outcome; a new address is used by the next attempt; no socket and no timer is left.
 */

/** How a server can fail a newcomer. A frame of 4 bytes is no Hello's answer. */
const ways: readonly ((socket: Socket) => void)[] = [
  (socket) => socket.resetAndDestroy(),
  (socket) => socket.end(),
  (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  (socket) => socket.end(Buffer.from([0xff, 0xff, 0xff, 0xff])),
  (socket) => socket.end(Buffer.from([0, 0, 0, 2, 0x12, 0x00])),
  (socket) => socket.write(Buffer.from([0, 0, 0, 0])),
];

async function openHostile(): Promise<{ server: Server; port: number }> {
  let met = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {}).resume();
    ways[met++ % ways.length]?.(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

/** What the dialer says of them. */
const allWays = ['link.lost', 'wire.empty-frame', 'wire.frame-too-large', 'wire.malformed'];

const socketsOpen = (): number =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
const filesOpen = (): number => readdirSync('/proc/self/fd').length;

export function reconnectTest(attempts: number): void {
  test(`${attempts} failed attempts leave nothing behind, and the next one at a new address links (F2, L12, L13)`, {
    timeout: 300_000,
  }, async (t) => {
    const clock = createManualClock();
    const host = createTestAcceptor();
    const hostile = await openHostile();
    const listener = await listenTcp({
      host: '127.0.0.1',
      port: 0,
      tls: false,
      identity: host.identity,
      onTransport: host.acceptor.accept,
    });
    t.after(() => Promise.all([listener.close(), hostile.server.close()]));
    const filesBefore = filesOpen();
    let port = hostile.port;
    const delays: number[] = [];
    const codes = new Map<string, number>();
    const states: SupervisorState['kind'][] = [];
    const stop = new AbortController();
    const onState = (state: SupervisorState): void => {
      states.push(state.kind);
      if (state.kind !== 'waiting') return;
      delays.push(state.delayMs);
      const code = state.last.kind === 'failed' ? state.last.code : state.last.kind;
      codes.set(code, (codes.get(code) ?? 0) + 1);
      if (delays.length === attempts) port = listener.address.port;
      setImmediate(() => clock.advance(state.delayMs));
    };
    const dial = (signal: AbortSignal) =>
      dialTcp({ host: '127.0.0.1', port, tls: false, pins: [host.pin] })(signal);
    let seed = 1;
    const random = (): number => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const running = createSupervisor({ ...testDial({ dial, pins: [host.pin], clock }), random, onState }).run(
      stop.signal,
    );
    await until(() => states.at(-1) === 'live', 'it linked at the new address', 280_000);
    assert.equal(delays.length, attempts);
    assert.ok(delays.every((delay) => delay <= 16_000));
    assert.ok(Math.max(...delays) > 15_000, 'the delay grew to the cap');
    assert.deepEqual(
      allWays.filter((code) => !codes.has(code)),
      [],
      'every way to fail was met',
    );
    assert.equal(states.filter((kind) => kind === 'connecting').length, attempts + 1);
    stop.abort();
    await running;
    await until(() => socketsOpen() === 0, 'every socket is gone');
    await until(() => filesOpen() <= filesBefore, 'every file descriptor is gone');
    assert.equal(clock.pending, 0);
  });
}
