import { join, resolve } from 'node:path';
import { IopError } from '@iop/domain';

/** Everything that `iop up` will use, decided before anything is touched. */
export interface UpPlan {
  stateDir: string;
  edgeDir: string;
  nodeDir: string;
  logDir: string;
  apiKeyFile: string;
  /** Where CLI agents work unless the user says otherwise. */
  agentsDir: string;
  socketPath: string;
  host: string;
  wirePort: number;
  httpPort: number;
  /** `http://127.0.0.1:7480` */
  httpUrl: string;
  /** `127.0.0.1:7400` */
  wireAddress: string;
}

const httpOffset = 80;
const host = '127.0.0.1';
/** What the kernel allows for the path of a Unix socket. */
const longestSocketPath = 107;

export function planUp(stateDir: string, portBase: number): UpPlan {
  const dir = resolve(stateDir);
  const edgeDir = join(dir, 'edge');
  const socketPath = join(edgeDir, 'operator.sock');
  if (Buffer.byteLength(socketPath) > longestSocketPath) {
    const message = `the state directory ${dir} has too long a path: the Edge's socket in it may have ${longestSocketPath} bytes; choose a shorter one with --state-dir`;
    throw new IopError({ kind: 'invalid', code: 'config.state-dir', message, details: { path: dir } });
  }
  const httpPort = portBase + httpOffset;
  return {
    stateDir: dir,
    edgeDir,
    nodeDir: join(dir, 'node'),
    logDir: join(dir, 'logs'),
    apiKeyFile: join(dir, 'api-key'),
    agentsDir: join(dir, 'agents'),
    socketPath,
    host,
    wirePort: portBase,
    httpPort,
    httpUrl: `http://${host}:${httpPort}`,
    wireAddress: `${host}:${portBase}`,
  };
}

/** Both ports must exist. */
export const portBaseBounds = [1, 65_535 - httpOffset] as const;
