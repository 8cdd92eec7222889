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

/** How one cut went, or how much crossed without one. */
interface Played {
  crossedBytes: number;
  connections: number;
}

/** Plays with the first connection cut after `bytes` in a direction. */
type Stage = (direction: Direction, bytes: number) => Promise<Played>;

async function playInMemory(direction: Direction, bytes: number): Promise<Played> {
  const scene = openScene(cheap);
  const played = { crossedBytes: 0, connections: 0 };
  const dial = async (): Promise<Transport> => {
    const cut = played.connections++ === 0 ? bytes : Number.POSITIVE_INFINITY;
    const duplex = createMemoryDuplex({
      cutAfterBytes: { [direction]: cut },
      onPassed: (way, size) => {
        if (way === direction) played.crossedBytes += size;
      },
    });
    scene.host.acceptor.accept(duplex.acceptor);
    return duplex.dialer;
  };
  await play(dial, scene);
  check(scene, `${direction} cut after ${bytes} bytes`);
  return played;
}

async function playOnSockets(tls: boolean, direction: Direction, bytes: number): Promise<Played> {
  const scene = openScene(real);
  const { identity, acceptor, pin } = scene.host;
  const listener = await listenTcp({
    host: '127.0.0.1',
    port: 0,
    tls,
    identity,
    onTransport: acceptor.accept,
  });
  const proxy = await openChaosProxy(listener.address, { cutAfterBytes: { [direction]: bytes } });
  proxy.onAccepted = () => {
    proxy.knobs = {};
  };
  await play(dialTcp({ ...proxy.address, tls, pins: [pin] }), scene);
  check(scene, `${direction} cut after ${bytes} bytes`);
  await Promise.all([listener.close(), proxy.close()]);
  return { crossedBytes: proxy.passed[direction], connections: proxy.accepted };
}

/** Scenes played side by side: each waits for an ack that comes after 50 ms. */
const atOnce = 16;

async function cutEverywhere(stage: Stage, direction: Direction, strideBytes: number): Promise<void> {
  const { crossedBytes } = await stage(direction, Number.POSITIVE_INFINITY);
  assert.ok(crossedBytes > 300, `${crossedBytes} bytes cross`);
  const offsets = Array.from({ length: Math.ceil(crossedBytes / strideBytes) }, (_, at) => at * strideBytes);
  for (let from = 0; from < offsets.length; from += atOnce) {
    const batch = offsets.slice(from, from + atOnce);
    const played = await Promise.all(batch.map((bytes) => stage(direction, bytes)));
    const uncut = batch.filter((_, at) => (played[at]?.connections ?? 0) < 2);
    // The last frame up is the Goodbye: a cut in it needs no second link.
    assert.ok(
      uncut.every((bytes) => bytes > crossedBytes - 100),
      `no cut came of ${uncut} of ${crossedBytes}`,
    );
  }
}

/** Every offset, in memory and with a crypto that costs nothing. */
export function cutInMemoryTest(): void {
  for (const direction of ['up', 'down'] as const) {
    test(`cut at every byte of the way ${direction}, in memory (F3)`, { timeout: 120_000 }, () =>
      cutEverywhere(playInMemory, direction, 1),
    );
  }
}

/** Every `strideBytes`-th offset, over real sockets. */
export function cutOnSocketsTest(strideBytes: number): void {
  for (const tls of [false, true]) {
    for (const direction of ['up', 'down'] as const) {
      const what = `of the way ${direction} over ${tls ? 'TLS' : 'TCP'}`;
      const stage: Stage = (way, bytes) => playOnSockets(tls, way, bytes);
      test(`cut at every ${strideBytes}. byte ${what} (F3)`, { timeout: 600_000 }, () =>
        cutEverywhere(stage, direction, strideBytes),
      );
    }
  }
}
