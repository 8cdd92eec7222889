import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMessage, encodeMessage, protocolVersion, type WireMessage } from '@iop/wire';
import { nodeCrypto } from '../tcp/identity.ts';
import { newIdentity, testHello } from '../testing/link-host.ts';
import { AcceptorHandshake, type AcceptorStep } from './acceptor-handshake.ts';
import { DialerHandshake, type DialerStep } from './dialer-handshake.ts';

const server = newIdentity();
const pin = nodeCrypto.pinOf(server.publicKey);
const channelOf = (fill: number) => ({
  channelBinding: new Uint8Array(32).fill(fill),
  peer: { kind: 'tls' as const, address: 'x' },
});

/** Two sides that see the channels `near` and `far`; the same number: no one stands between them. */
function meet(near: number, far: number): { dialer: DialerHandshake; acceptor: AcceptorHandshake } {
  const crypto = nodeCrypto;
  const hello = testHello();
  const mine = { hello, identity: newIdentity(), pins: [pin], token: () => 'secret', crypto };
  return {
    dialer: new DialerHandshake({ ...mine, transport: channelOf(near) }),
    acceptor: new AcceptorHandshake({ identity: server, name: 'lab', crypto, transport: channelOf(far) }),
  };
}

function sent(step: AcceptorStep | DialerStep): WireMessage {
  assert.equal(step.kind, 'send', JSON.stringify(step));
  return (step as { message: WireMessage }).message;
}

const bytes = (message: WireMessage): Uint8Array => encodeMessage(message);

test('two honest sides prove themselves in three messages', () => {
  const { dialer, acceptor } = meet(1, 1);
  const challenge = sent(acceptor.receive(bytes(dialer.begin())));
  const proof = sent(dialer.receive(bytes(challenge)));
  const step = acceptor.receive(bytes(proof));
  assert.ok(
    step.kind === 'proven' && step.peer.token === 'secret' && step.protocolVersion === protocolVersion,
  );
});

test('a relay between two TLS channels is found out by the dialer, before it proves anything (L1, L2)', () => {
  const { dialer, acceptor } = meet(1, 2);
  const challenge = sent(acceptor.receive(bytes(dialer.begin())));
  const step = dialer.receive(bytes(challenge));
  assert.ok(step.kind === 'failed' && step.code === 'identity.bad-signature', JSON.stringify(step));
});

test('a proof that was made on another channel is refused (L2)', () => {
  const honest = meet(1, 1);
  const hello = bytes(honest.dialer.begin());
  const proof = sent(honest.dialer.receive(bytes(sent(honest.acceptor.receive(hello)))));
  const { acceptor } = meet(1, 2);
  acceptor.receive(hello);
  const step = acceptor.receive(bytes(proof));
  assert.ok(step.kind === 'refused' && step.code === 'identity.bad-signature');
});

test('a Hello that was changed on the way is found out (L2)', () => {
  const { dialer, acceptor } = meet(1, 1);
  const hello = dialer.begin();
  const changed = decodeMessage(bytes(hello));
  if (changed.case === 'hello') changed.value.identity = 'somebody-else';
  const step = dialer.receive(bytes(sent(acceptor.receive(bytes(changed as WireMessage)))));
  assert.ok(step.kind === 'failed' && step.code === 'identity.bad-signature');
});

test('fields of a later version are part of what is signed, known or not (L2)', () => {
  const { dialer, acceptor } = meet(1, 1);
  const challenge = bytes(sent(acceptor.receive(bytes(dialer.begin()))));
  const later = Buffer.concat([challenge, Uint8Array.of(0xa0, 0x1f, 0x01)]); // field 500: 1
  const proof = sent(dialer.receive(later));
  const step = acceptor.receive(bytes(proof));
  assert.ok(step.kind === 'refused', 'the hash is of the bytes, not of what was understood');
});

test('what comes out of turn, or is no message, ends the handshake on either side', () => {
  const { dialer, acceptor } = meet(1, 1);
  const hello = bytes(dialer.begin());
  const early = meet(1, 1).acceptor.receive(
    bytes({
      case: 'proof',
      value: { $typeName: 'iop.wire.v1.Proof', signature: new Uint8Array(), token: '' },
    }),
  );
  assert.ok(early.kind === 'refused' && early.code === 'protocol.unexpected-message');
  acceptor.receive(hello);
  const twice = acceptor.receive(hello);
  assert.ok(twice.kind === 'refused' && twice.code === 'protocol.unexpected-message');
  const garbage = dialer.receive(new Uint8Array(9).fill(0xff));
  assert.ok(garbage.kind === 'failed' && garbage.code === 'wire.malformed');
  const after = dialer.receive(hello);
  assert.ok(after.kind === 'failed' && after.code === 'protocol.unexpected-message');
});
