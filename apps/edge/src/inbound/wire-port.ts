import type { Clock } from '@iop/domain';
import { type Acceptor, type AcceptorOptions, createAcceptor, type Identity } from '@iop/link';
import { nodeCrypto } from '@iop/link/tcp';
import { type Log, randomBytes } from '@iop/shell';
import { Role } from '@iop/wire';
import type { Edge } from '../core/edge.ts';
import type { IdentityStore } from '../ports/identity-store.ts';
import { createAdmit } from './admit.ts';
import { createNodeLinks } from './node-link/node-links.ts';
import { createOperatorLinks } from './operator-link/operator-links.ts';

export interface WirePortDeps {
  edge: Edge;
  /** Of this Edge, for people. */
  name: string;
  identity: Identity;
  identities: IdentityStore;
  nodeToken: string;
  operatorToken: string;
  /** Of the request of a run that an operator starts. */
  bodyLimitBytes: number;
  clock: Clock;
  log: Log;
}

/**
 * Everybody who speaks the IOP Wire Protocol, whatever the transport: Nodes and operators. Who comes by the local
 * socket has places of its own: strangers who stall their handshakes over TCP shut no operator out.
 */
export function createWirePort(deps: WirePortDeps): Acceptor {
  const options = acceptorOptions(deps);
  const [remote, local] = [createAcceptor(options), createAcceptor(options)];
  return {
    accept: (transport) => (transport.peer.kind === 'unix' ? local : remote).accept(transport),
    links: () => [...remote.links(), ...local.links()],
    close(reason, spreadMs) {
      remote.close(reason, spreadMs);
      local.close(reason, spreadMs);
    },
  };
}

function acceptorOptions(deps: WirePortDeps): AcceptorOptions {
  const { edge, clock, log } = deps;
  const nodeLinks = createNodeLinks({ nodes: edge.nodes, clock, log });
  const operatorLinks = createOperatorLinks({ edge, log, bodyLimitBytes: deps.bodyLimitBytes });
  return {
    identity: deps.identity,
    name: deps.name,
    serverInstance: randomBytes(16),
    crypto: nodeCrypto,
    clock,
    admit: createAdmit({
      ...deps,
      heartbeatMs: () => edge.settings().limits.heartbeatMs,
      fleetSize: () => edge.nodes.size,
    }),
    onLink: (link) => (link.peer.role === Role.OPERATOR ? operatorLinks : nodeLinks).open(link),
    onRejected({ code, message, name, instance, transport, cause }) {
      const from = { code, reason: message, name, instance, address: transport.address };
      if (cause === undefined) log.warn(from, 'a link was refused');
      else log.error({ ...from, cause: String(cause) }, 'a link was refused because of a bug');
    },
  };
}
