import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFrame, type WireMessage } from '@iop/wire';
import { createRandom, type Random, randomMessage } from '@iop/wire/testing';
import { cheapCrypto, cheapIdentity } from './testing/cheap-crypto.ts';
import { FakePeer } from './testing/fake-peer.ts';
import { createTestAcceptor, testHello } from './testing/link-host.ts';
import { createManualClock, settle } from './testing/manual-clock.ts';
import { createMemoryDuplex } from './testing/memory-duplex.ts';

/**
 * F16: any messages in any order, and any damage to their bytes, at every stage. Nothing throws out of the acceptor, and
 * when the peer is gone no handshake, no link and no timer is left.
 */
const rounds = Number(process.env.IOP_FUZZ_CASES ?? 600);

function damaged(message: WireMessage, random: Random): Uint8Array {
  const bytes = encodeFrame(message);
  if (random.below(3) > 0) return bytes;
  bytes[random.below(bytes.length)] = random.below(256);
  return random.below(2) === 0 ? bytes : bytes.subarray(0, random.below(bytes.length));
}

/** A peer that stops being honest at some point of the handshake or after it. */
async function misbehave(peer: FakePeer, random: Random): Promise<void> {
  const stage = random.below(4);
  if (stage === 3) await peer.enter();
  else if (stage > 0) peer.send(peer.hello());
  if (stage === 2) peer.send(await peer.prove(await peer.next('challenge')));
  for (let left = random.below(6); left > 0; left--) peer.sendBytes(damaged(randomMessage(random), random));
}

test(`${rounds} dishonest peers leave nothing behind (F16, L3, L9, L10)`, async () => {
  const random = createRandom(7);
  const clock = createManualClock();
  const host = createTestAcceptor({ clock, crypto: cheapCrypto, identity: cheapIdentity });
  for (let round = 0; round < rounds; round++) {
    const duplex = createMemoryDuplex({ pieceBytes: 1 + random.below(100) });
    const hello = testHello({ name: `n${round % 7}` });
    const peer = new FakePeer(duplex.dialer, {
      identity: cheapIdentity,
      hello,
      pins: [host.pin],
      crypto: cheapCrypto,
    });
    host.acceptor.accept(duplex.acceptor);
    await misbehave(peer, random).catch(() => {});
    await settle();
    peer.transport.destroy();
    await settle();
  }
  assert.equal(host.acceptor.links().length, 0);
  assert.ok(host.links.length > rounds / 10, 'some went live');
  assert.ok(host.rejections.length > rounds / 10, 'some were refused');
  assert.equal(clock.pending, 0);
});
