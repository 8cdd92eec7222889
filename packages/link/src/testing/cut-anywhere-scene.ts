import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Identity, LinkCrypto } from '../identity.ts';
import type { Link, LinkHandlers } from '../link.ts';
import { createSupervisor } from '../supervisor.ts';
import { dialTcp, listenTcp, nodeCrypto } from '../tcp/index.ts';
import type { Dial, Transport } from '../transport.ts';
import { type Direction, openChaosProxy } from './chaos-proxy.ts';
import { cheapCrypto, cheapIdentity } from './cheap-crypto.ts';
import { endEvent, rawEvent } from './events.ts';
import {
  createTestAcceptor,
  newIdentity,
  type TestAcceptor,
  testDial,
  testHello,
  until,
} from './link-host.ts';
import { createMemoryDuplex } from './memory-duplex.ts';
import { ExecutorHost, ReaderHost, rawBytesOf } from './run-host.ts';
import { createTestClock } from './system-clock.ts';

/**
 * F3: the link is cut after every possible number of bytes, in either direction, handshake included, and comes back. The
 * reader sees byte for byte what was emitted: nothing missing, nothing twice, nothing of a half frame.
 */
const pieces = Array.from({ length: 6 }, (_, at) => `data: {"n":${at}}\n\n`);
const whole = pieces.join('');

/** Who shakes hands, and with what. */
interface Cast {
  server: Identity;
  client: Identity;
  crypto: LinkCrypto;
}

const real: Cast = { server: newIdentity(), client: newIdentity(), crypto: nodeCrypto };
const cheap: Cast = { server: cheapIdentity, client: cheapIdentity, crypto: cheapCrypto };

interface Scene {
  cast: Cast;
  host: TestAcceptor;
  reader: ReaderHost;
}

function openScene(cast: Cast): Scene {
  const clock = createTestClock();
  const reader = new ReaderHost(clock, 100);
  const { server: identity, crypto } = cast;
  const host = createTestAcceptor({ identity, crypto, clock, onLink: (link) => reader.onLink(link) });
  return { cast, host, reader };
}

/** Emits the run over whatever `dial` gives, until its end was acked. */
async function play(dial: Dial, { host, cast }: Scene): Promise<void> {
  const executor = new ExecutorHost(createTestClock(), 100);
  const { client: identity, crypto } = cast;
  const hello = testHello({ instance: new Uint8Array(16).fill(1) });
  const options = testDial({ dial, pins: [host.pin], identity, crypto, hello: () => hello });
  const onLink = (link: Link): LinkHandlers => executor.onLink(link);
  const stop = new AbortController();
  const running = createSupervisor({ ...options, random: () => 0, onLink }).run(stop.signal);
  emitFrom(executor, 0);
  await until(() => executor.outbox.finished, 'the end was acked');
  stop.abort();
  await running;
}

/** One piece a turn, as long as there is room; then the end. */
function emitFrom(executor: ExecutorHost, at: number): void {
  if (at === pieces.length) executor.outbox.append(endEvent());
  else {
    executor.outbox.append(rawEvent(pieces[at] as string));
    executor.outbox.whenRoom(() => setImmediate(() => emitFrom(executor, at + 1)));
  }
}

function check({ reader }: Scene, cut: string): void {
  assert.equal(rawBytesOf(reader.seen).toString(), whole, cut);
  assert.equal(reader.seen.at(-1)?.kind.case, 'end', cut);
  assert.deepEqual(reader.troubles, [], cut);
}

/** A link in memory whose first connection is cut after `bytes` in a direction; how many bytes crossed uncut. */
async function playInMemory(direction: Direction, bytes: number): Promise<number> {
  const scene = openScene(cheap);
  let dialed = 0;
  let crossed = 0;
  const dial = async (): Promise<Transport> => {
    const cut = dialed++ === 0 ? bytes : Number.POSITIVE_INFINITY;
    const duplex = createMemoryDuplex({
      cutAfterBytes: { [direction]: cut },
      onPassed: (way, size) => {
        if (way === direction) crossed += size;
      },
    });
    scene.host.acceptor.accept(duplex.acceptor);
    return duplex.dialer;
  };
  await play(dial, scene);
  check(scene, `${direction} cut after ${bytes} bytes`);
  return crossed;
}

/** Scenes played side by side: each waits for an ack that comes after 50 ms. */
const atOnce = 40;

/** Every offset, in memory and with a crypto that costs nothing. */
export function cutInMemoryTest(): void {
  for (const direction of ['up', 'down'] as const) {
    test(`cut at every byte of the way ${direction}, in memory (F3)`, { timeout: 120_000 }, async () => {
      const uncut = await playInMemory(direction, Number.POSITIVE_INFINITY);
      assert.ok(uncut > 300, `${uncut} bytes cross`);
      for (let from = 0; from <= uncut; from += atOnce) {
        const offsets = Array.from({ length: atOnce }, (_, at) => from + at);
        await Promise.all(offsets.map((bytes) => playInMemory(direction, bytes)));
      }
    });
  }
}

/** Every `strideBytes`-th offset, over real sockets. */
export function cutOnSocketsTest(strideBytes: number): void {
  for (const tls of [false, true]) {
    test(`cut at bytes of the way over ${tls ? 'TLS' : 'TCP'} (F3)`, { timeout: 300_000 }, async (t) => {
      let scene = openScene(real);
      const listener = await listenTcp({
        host: '127.0.0.1',
        port: 0,
        tls,
        identity: real.server,
        onTransport: (transport) => scene.host.acceptor.accept(transport),
      });
      const proxy = await openChaosProxy(listener.address);
      t.after(() => Promise.all([listener.close(), proxy.close()]));
      const dial = dialTcp({ ...proxy.address, tls, pins: [scene.host.pin] });
      await play(dial, scene);
      const total = { ...proxy.passed };
      for (const direction of ['up', 'down'] as const) {
        for (let bytes = 0; bytes <= total[direction]; bytes += strideBytes) {
          scene = openScene(real);
          const before = proxy.accepted;
          proxy.knobs = { cutAfterBytes: { [direction]: bytes } };
          const healing = until(() => proxy.accepted > before, 'it dialed').then(() => {
            proxy.knobs = {};
          });
          await Promise.all([play(dial, scene), healing]);
          check(scene, `${direction} cut after ${bytes} of ${total[direction]} bytes`);
        }
      }
    });
  }
}
