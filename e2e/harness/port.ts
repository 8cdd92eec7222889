import { createServer } from 'node:net';

/**
 * A TCP port that is free now. From below the range out of which the kernel takes ports for outgoing
 * connections, so that nobody takes it while its owner restarts.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const port = 15_000 + Math.floor(Math.random() * 17_000);
    if (await isFree(port)) return port;
  }
  throw new Error('found no free port between 15000 and 32000 in 50 attempts');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
