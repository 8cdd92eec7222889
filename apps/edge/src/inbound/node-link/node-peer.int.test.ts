import assert from 'node:assert/strict';
import { createAcceptor, type Link } from '@iop/link';
import { createIdentityPem, dialTcp, listenTcp, loadIdentity, nodeCrypto } from '@iop/link/tcp';
import { createSystemClock } from '@iop/shell';
import { nodeLinkContract } from '../../ports/node-link.contract.ts';
import { createWireNode, type WireNode, type WireRun } from '../../testing/wire-node.ts';
import { until } from '../../testing/wire-world.ts';
import { NodePeer } from './node-peer.ts';

nodeLinkContract('wire', async () => {
  const clock = createSystemClock();
  const identity = loadIdentity(createIdentityPem());
  const peer = new NodePeer(clock);
  const acceptor = createAcceptor({
    identity,
    name: 'edge',
    serverInstance: nodeCrypto.randomBytes(16),
    crypto: nodeCrypto,
    clock,
    admit: async () => ({ kind: 'welcome', epoch: 1, heartbeatIntervalMs: 10_000, fleetSize: 1 }),
    onLink: (link) => attach(peer, link),
  });
  const onTransport = acceptor.accept;
  const listener = await listenTcp({ host: '127.0.0.1', port: 0, tls: true, identity, onTransport });
  const pins = [nodeCrypto.pinOf(identity.publicKey)];
  const { port } = listener.address;
  const dial = dialTcp({ host: '127.0.0.1', port, tls: true, pins });
  const node = createWireNode({ name: 'a', dial, pins, token: '' });
  await node.link();
  await until('both ends are linked', () => acceptor.links().length === 1);
  return {
    link: peer,
    node: speakFor(node),
    until,
    async [Symbol.asyncDispose]() {
      node.cut();
      acceptor.close('the test is over', 0);
      await listener.close();
    },
  };
});

function attach(peer: NodePeer, link: Link) {
  peer.attach(link);
  return {
    onMessage(message: Parameters<ReturnType<typeof createWireNode>['send']>[0]) {
      if (message.case === 'runEvents') peer.onEvents(message.value);
      if (message.case === 'runAccepted') peer.onAccepted(message.value);
      if (message.case === 'runCredit') peer.onCredit(message.value);
    },
    onDrain: () => peer.drained(),
    onClosed: () => peer.detach(link),
  };
}

function speakFor(node: WireNode) {
  let taken = 0;
  const newest = (runId: string): WireRun => {
    const run = node.runs.findLast(({ request }) => request.runId === runId);
    assert.ok(run !== undefined);
    return run;
  };
  return {
    async takeOrder() {
      const index = taken++;
      await until('the Node has the order', () => node.runs[index]?.body !== undefined);
      const { runId, attempt } = node.runs[index]?.request ?? { runId: '', attempt: 0 };
      return { runId, attempt, body: node.runs[index]?.body ?? new Uint8Array(0) };
    },
    accept: (runId: string) => newest(runId).accept(),
    say: (runId: string, text: string) => newest(runId).say(text),
    end: (runId: string, end: Parameters<WireRun['end']>[0]) => newest(runId).end(end),
    async cancelledBy(runId: string) {
      await until('the Node is told', () => newest(runId).cancelledBy !== undefined);
      return newest(runId).cancelledBy ?? '';
    },
  };
}
