import { join } from 'node:path';

/** What lies in the state directory of an Edge. */
export function stateFiles(stateDir: string) {
  return {
    identity: join(stateDir, 'identity.key'),
    nodeToken: join(stateDir, 'node.token'),
    operatorToken: join(stateDir, 'operator.token'),
    config: join(stateDir, 'edge.yaml'),
    store: join(stateDir, 'state.db'),
    operatorSocket: join(stateDir, 'operator.sock'),
  };
}
