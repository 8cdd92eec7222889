import { createAcceptor } from '@iop/link';
import { createIdentityPem, listenTcp, loadIdentity, nodeCrypto } from '@iop/link/tcp';
import { createSystemClock } from '@iop/shell';

/** A man in the middle: it listens where the Edge should, with a key of its own, and writes down what it gets. */
export interface Impostor {
  readonly port: number;
  /** Connections on which a handshake of ours began (with TLS: after the dialer accepted our certificate). */
  readonly connections: number;
  /** Tokens that were handed to it. */
  readonly tokens: readonly string[];
  /** Identities that proved themselves to it. */
  readonly victims: readonly string[];
  close(): Promise<void>;
}

export async function startImpostor(tls: boolean): Promise<Impostor> {
  const identity = loadIdentity(createIdentityPem());
  const tokens: string[] = [];
  const victims: string[] = [];
  let connections = 0;
  const acceptor = createAcceptor({
    identity,
    name: 'lab',
    serverInstance: nodeCrypto.randomBytes(16),
    crypto: nodeCrypto,
    clock: createSystemClock(),
    async admit({ hello, token }) {
      tokens.push(token);
      victims.push(hello.identity);
      return { kind: 'reject', code: 'caught', message: 'caught', retryAfterMs: 0 };
    },
    onLink: () => ({ onMessage() {}, onClosed() {} }),
  });
  const listener = await listenTcp({
    host: '127.0.0.1',
    port: 0,
    tls,
    identity,
    onTransport(transport) {
      connections++;
      acceptor.accept(transport);
    },
  });
  return {
    port: listener.address.port,
    get connections() {
      return connections;
    },
    tokens,
    victims,
    async close() {
      acceptor.close('over', 0);
      await listener.close();
    },
  };
}
