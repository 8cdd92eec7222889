import assert from 'node:assert/strict';
import { attemptLink } from '../../attempt.ts';
import type { FakePeer } from '../fake-peer.ts';
import { testDial, testHello, until } from '../link-host.ts';
import { ack, type ContractSubject, never, openFake, openWorld, type Suite } from './contract-world.ts';

/** What a proven peer may do wrong, and what follows: L5, L9. */
export function abuseContract(suite: Suite, subject: ContractSubject): void {
  suite('an unknown message is answered and the link goes on; very many of them end it (L9)', async (t) => {
    const { host, peer } = await openFake(t, subject);
    await peer.enter();
    const unknown = Uint8Array.of(0xa2, 0x1f, 0x00); // field 500, empty
    peer.sendFrame(unknown);
    const { value } = await peer.next('protocolError');
    assert.deepEqual([value.code, value.fatal], ['protocol.unknown-message', false]);
    peer.send(ack(1));
    await until(() => host.links[0]?.messages.length === 1, 'the link went on');
    for (let count = 0; count < 200; count++) peer.sendFrame(unknown);
    const outcome = await host.links[0]?.closed;
    assert.equal(outcome?.kind, 'protocol-error');
  });

  const poison: [string, (peer: FakePeer) => void, string][] = [
    ['a length of 4 GiB', (peer) => peer.sendFrame(new Uint8Array(), 0xffffffff), 'wire.frame-too-large'],
    ['a length of 0', (peer) => peer.sendFrame(new Uint8Array()), 'wire.empty-frame'],
    ['a broken varint', (peer) => peer.sendFrame(new Uint8Array(12).fill(0xff)), 'wire.malformed'],
    ['a second Hello', (peer) => peer.send(peer.hello()), 'protocol.unexpected-message'],
  ];
  for (const [what, act, code] of poison) {
    suite(`${what} ends the link with ${code}, is told so, and another link does not notice (L5, L9)`, async (t) => {
      const { host, peer } = await openFake(t, subject);
      const world = await openWorld(t, subject, host.identity);
      world.onTransport = (transport) => host.acceptor.accept(transport);
      const other = testDial({
        dial: world.dial,
        pins: [host.pin],
        hello: () => testHello({ name: 'other' }),
      });
      assert.equal((await attemptLink(other, never)).kind, 'linked');
      await peer.enter();
      await until(() => host.links.length === 2, 'both are live');
      act(peer);
      const { value } = await peer.next('protocolError');
      assert.deepEqual([value.code, value.fatal], [code, true]);
      await peer.closed;
      const outcome = await host.links[1]?.closed;
      assert.ok(outcome?.kind === 'protocol-error' && outcome.code === code, JSON.stringify(outcome));
      other.seen[0]?.link.send(ack(1));
      await until(() => host.links[0]?.messages.length === 1, 'the other link works');
    });
  }

  suite('a flood of tiny frames is answered within bounds and harms nobody (F16)', async (t) => {
    const { host, peer } = await openFake(t, subject);
    await peer.enter();
    const pings = Buffer.concat(Array.from({ length: 20_000 }, () => pingFrame));
    peer.sendBytes(pings);
    await until(
      () => peer.received.filter((message) => message.case === 'pong').length >= 20_000,
      'all were answered',
    );
    peer.send(ack(7));
    await until(() => host.links[0]?.messages.length === 1, 'the link still works');
  });
}
const pingFrame = Buffer.from([0, 0, 0, 4, 0x52, 0x02, 0x08, 0x05]);
