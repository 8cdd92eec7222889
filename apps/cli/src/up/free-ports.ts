import { createServer } from 'node:net';
import { IopError } from '@iop/domain';
import type { UpPlan } from './plan.ts';

/** Said before anything is started, because the words of a part that fails to listen come later and are worse. */
export async function assertPortsFree({ host, wirePort, httpPort }: UpPlan): Promise<void> {
  const uses = [
    ['wire', wirePort],
    ['HTTP', httpPort],
  ] as const;
  for (const [use, port] of uses) {
    const problem = await tryListen(host, port);
    if (problem !== undefined) throw busy(use, port, problem);
  }
}

/** Undefined: it is free. */
function tryListen(at: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host: at, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

function busy(use: string, port: number, code: string): IopError {
  const why = code === 'EADDRINUSE' ? 'is in use by another program' : `cannot be used (${code})`;
  return new IopError({
    kind: 'conflict',
    code: 'port.busy',
    message: `port ${port} (${use}) ${why}; stop that program, or choose other ports with --port-base N (wire N, HTTP N + 80)`,
    details: { port },
  });
}
