import type { Clock } from '@iop/domain';
import { connectLink, type Dial } from '@iop/link';
import { createIdentityPem, dialTcp, dialUnix, loadIdentity, nodeCrypto } from '@iop/link/tcp';
import { Role } from '@iop/wire';
import { createOperatorClient, type OperatorClient } from './operator-client.ts';
import { OperatorRequests } from './requests.ts';

/** Where an Edge takes operators: locally without a token, or over TCP with pins and a token. */
export type OperatorAddress =
  | { kind: 'unix'; path: string }
  | { kind: 'tcp'; host: string; port: number; tls: boolean; pins: readonly string[]; token(): string };

export interface OperatorOptions {
  address: OperatorAddress;
  /** Who asks, for logs and records: `iop`. */
  name: string;
  /** Program and version. */
  build: string;
  clock: Clock;
}

/**
 * Links to an Edge as operator. The identity is made for this one link: operators are known by
 * their token or by the socket that they may open, so no key has to be kept.
 * @throws IopError with what stood in the way and what to do
 */
export async function connectOperator(
  options: OperatorOptions,
  signal: AbortSignal,
): Promise<OperatorClient> {
  const { address, clock } = options;
  const requests = new OperatorRequests(clock);
  const { link } = await connectLink(
    {
      dial: dialOf(address),
      hello: () => ({
        role: Role.OPERATOR,
        name: options.name,
        instance: nodeCrypto.randomBytes(16),
        lastEpoch: 0,
        build: options.build,
      }),
      identity: loadIdentity(createIdentityPem()),
      pins: address.kind === 'tcp' ? address.pins : [],
      token: () => (address.kind === 'tcp' ? address.token() : ''),
      crypto: nodeCrypto,
      clock,
      onLink: (linked) => requests.open(linked),
    },
    signal,
  );
  return createOperatorClient(requests, link.peer.name);
}

function dialOf(address: OperatorAddress): Dial {
  if (address.kind === 'unix') return dialUnix({ path: address.path });
  const { host, port, tls, pins } = address;
  return dialTcp({ host, port, tls, pins });
}
