import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Identity } from './identity.ts';
import { dialTcp, dialUnix, type Listener, listenTcp, listenUnix, nodeCrypto } from './tcp/index.ts';
import type { ContractWorld } from './testing/contract/contract-world.ts';
import { linkContract } from './testing/contract/link-contract.ts';
import { createMemoryDuplex } from './testing/memory-duplex.ts';
import type { Transport } from './transport.ts';

/** The same suite over everything that can carry a link. */
linkContract('memory', { bound: false, open: async () => memoryWorld({}) });
linkContract('memory in pieces of 61 bytes', {
  bound: false,
  open: async () => memoryWorld({ pieceBytes: 61 }),
});
linkContract('plaintext TCP', { bound: false, open: (identity) => tcpWorld(identity, false) });
linkContract('TLS', { bound: true, open: (identity) => tcpWorld(identity, true) });
linkContract('Unix socket', { bound: false, open: () => unixWorld() });

/** A world whose dial and close follow. */
function emptyWorld(): ContractWorld {
  return {
    dial: () => Promise.reject(new Error('not open yet')),
    onTransport: () => {},
    close: async () => {},
  };
}

function memoryWorld(knobs: { pieceBytes?: number }): ContractWorld {
  const world = emptyWorld();
  const ends: Transport[] = [];
  world.dial = async () => {
    const duplex = createMemoryDuplex(knobs);
    ends.push(duplex.dialer, duplex.acceptor);
    world.onTransport(duplex.acceptor);
    return duplex.dialer;
  };
  world.close = async () => {
    for (const end of ends) end.destroy();
  };
  return world;
}

async function tcpWorld(identity: Identity, tls: boolean): Promise<ContractWorld> {
  const world = emptyWorld();
  const onTransport = (transport: Transport): void => world.onTransport(transport);
  const listener = await listenTcp({ host: '127.0.0.1', port: 0, tls, identity, onTransport });
  const dial = dialTcp({ ...listener.address, tls, pins: [nodeCrypto.pinOf(identity.publicKey)] });
  return Object.assign(world, { dial, close: () => listener.close() });
}

async function unixWorld(): Promise<ContractWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'iop-link-'));
  const path = join(folder, 'x.sock');
  const world = emptyWorld();
  const listener: Listener = await listenUnix({
    path,
    onTransport: (transport) => world.onTransport(transport),
  });
  const close = async (): Promise<void> => {
    await listener.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return Object.assign(world, { dial: dialUnix({ path }), close });
}
