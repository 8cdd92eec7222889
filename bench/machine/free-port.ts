import { once } from 'node:events';
import { createServer } from 'node:net';

/** A loopback port that was free just now, for programs that cannot listen on 0 and say what they got. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
