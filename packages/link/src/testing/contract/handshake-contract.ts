import assert from 'node:assert/strict';
import type { Hello } from '@iop/wire';
import { attemptLink } from '../../attempt.ts';
import { nodeCrypto } from '../../tcp/identity.ts';
import type { Transport } from '../../transport.ts';
import { FakePeer } from '../fake-peer.ts';
import { createTestAcceptor, newIdentity, testDial, testHello, until } from '../link-host.ts';
import { ack, type ContractSubject, never, openFake, openWorld, type Suite } from './contract-world.ts';

/** Who is let in, and what an impostor learns: L1, L2, L4. */
export function handshakeContract(suite: Suite, subject: ContractSubject): void {
  impostorRules(suite, subject);
  greetingRules(suite, subject);
}

function impostorRules(suite: Suite, subject: ContractSubject): void {
  suite('with a wrong pin the peer sees Hello and no Proof, no token (L1)', async (t) => {
    const host = createTestAcceptor();
    const world = await openWorld(t, subject, host.identity);
    const seen: Buffer[] = [];
    world.onTransport = (transport) => host.acceptor.accept(recordBytes(transport, seen));
    let tokenAsked = 0;
    const options = testDial({
      dial: world.dial,
      pins: [nodeCrypto.pinOf(newIdentity().publicKey)],
      token: () => {
        tokenAsked++;
        return 'secret-token';
      },
    });
    const outcome = await attemptLink(options, never);
    assert.ok(outcome.kind === 'failed' && outcome.code === 'identity.pin-mismatch', JSON.stringify(outcome));
    await until(() => host.rejections.length === 1, 'the server noticed');
    assert.deepEqual([tokenAsked, host.admitted.length, host.links.length], [0, 0, 0]);
    assert.equal(Buffer.concat(seen).includes('secret-token'), false);
  });

  suite('a forged proof is refused and its token never looked at (L2)', async (t) => {
    const { host, peer } = await openFake(t, subject);
    peer.send(peer.hello());
    await peer.next('challenge');
    peer.send(peer.forgedProof('stolen'));
    const { value } = await peer.next('reject');
    assert.equal(value.code, 'identity.bad-signature');
    assert.equal(host.admitted.length, 0);
    await peer.closed;
  });

  suite('a recorded proof is worth nothing in another handshake (L2)', async (t) => {
    const { peer, host } = await openFake(t, subject, 'secret-token');
    const hello = peer.hello();
    peer.send(hello);
    const proof = await peer.prove(await peer.next('challenge'));
    peer.transport.destroy();
    await peer.closed;
    const world = await openWorld(t, subject, host.identity);
    world.onTransport = (transport) => host.acceptor.accept(transport);
    const thief = new FakePeer(await world.dial(never), {
      identity: newIdentity(),
      hello: testHello(),
      pins: [host.pin],
    });
    thief.send(hello);
    await thief.next('challenge');
    thief.send(proof);
    assert.equal((await thief.next('reject')).value.code, 'identity.bad-signature');
    assert.equal(host.admitted.length, 0);
  });
}

function greetingRules(suite: Suite, subject: ContractSubject): void {
  const badHellos: [string, Partial<Hello>, string][] = [
    ['another protocol', { protocolVersion: 0 }, 'protocol.version'],
    ['no role', { role: 0 as never }, 'protocol.bad-hello'],
    ['a name with a slash', { identity: '../x' }, 'protocol.bad-hello'],
    ['a short key', { publicKey: new Uint8Array(31) }, 'protocol.bad-hello'],
    ['no instance', { instance: new Uint8Array() }, 'protocol.bad-hello'],
  ];
  for (const [what, change, code] of badHellos) {
    suite(`a Hello with ${what} is refused with ${code}`, async (t) => {
      const { peer, host } = await openFake(t, subject);
      peer.send(peer.hello(change));
      assert.equal((await peer.next('reject')).value.code, code);
      await peer.closed;
      assert.equal(host.rejections[0]?.code, code);
    });
  }

  suite('a frame between Proof and Welcome ends the handshake (L4)', async (t) => {
    const { host, peer } = await openFake(t, subject);
    let admit: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      admit = resolve;
    });
    const decide = host.decide;
    host.decide = async (proven) => {
      await gate;
      return decide(proven);
    };
    peer.send(peer.hello());
    peer.send(await peer.prove(await peer.next('challenge')), ack(1));
    assert.equal((await peer.next('reject')).value.code, 'protocol.unexpected-message');
    admit();
    await peer.closed;
    assert.equal(host.links.length, 0);
  });
}

/** The same transport, remembering what arrived. */
function recordBytes(transport: Transport, seen: Buffer[]): Transport {
  return new Proxy(transport, {
    get(target, name) {
      if (name === 'start') {
        return (handlers: Parameters<Transport['start']>[0]) =>
          target.start({
            ...handlers,
            onBytes: (bytes) => {
              seen.push(Buffer.from(bytes));
              handlers.onBytes(bytes);
            },
          });
      }
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
