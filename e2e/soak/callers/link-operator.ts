import { setTimeout as sleep } from 'node:timers/promises';
import { connectOperator, type OperatorAddress, type OperatorClient } from '@iop/client';
import { readToken } from '../../harness/edge.ts';
import { operatorClock } from '../../harness/operator.ts';
import type { Stage } from '../stage.ts';

/** The first link of a watch must come about; an Edge that restarts has none for a while. */
export async function connectPatiently(
  address: OperatorAddress,
  signal: AbortSignal,
): Promise<OperatorClient> {
  for (;;) {
    try {
      return await connectOperator(
        { address, name: 'soak', build: 'e2e', clock: operatorClock },
        AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
      );
    } catch (cause) {
      if (signal.aborted) throw cause;
      await sleep(100);
    }
  }
}

export async function withOperator<T>(stage: Stage, use: (client: OperatorClient) => Promise<T>): Promise<T> {
  using client = await connectPatiently(localAddress(stage), AbortSignal.timeout(20_000));
  return await use(client);
}

export function localAddress({ edge }: Stage): OperatorAddress {
  return { kind: 'unix', path: edge.socketPath };
}

/** Through a proxy that cuts. */
export function remoteAddress({ edge, operatorProxy }: Stage): OperatorAddress {
  const token = () => readToken(edge.operatorTokenFile);
  return { kind: 'tcp', host: '127.0.0.1', port: operatorProxy.port, tls: true, pins: [edge.pin], token };
}
