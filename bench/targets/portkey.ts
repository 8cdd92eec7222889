import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pidOf, startChild, stopChild } from '../machine/child.ts';
import { findFreePort } from '../machine/free-port.ts';
import type { Target, TargetContext } from './target.ts';

/** hono as in that release's own lock file: with later servers of hono its streams answer 500. */
const versions = { '@portkey-ai/gateway': '1.15.2', hono: '4.9.7', '@hono/node-server': '1.13.5' };

/** Portkey's gateway, the nearest rival in TypeScript: one process, one hop, told by headers where the upstream is. */
export async function startPortkey(context: TargetContext): Promise<Target> {
  const program = join(installPortkey(), 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const port = await findFreePort();
  const child = startChild({
    name: 'portkey',
    cpu: context.cpu,
    command: process.execPath,
    args: [program, `--port=${port}`, '--headless'],
    env: { NODE_ENV: 'production' },
    logFd: context.openLog('portkey'),
  });
  const pid = pidOf(child, 'portkey');
  const headers = {
    authorization: 'Bearer bench',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${context.mockPort}/v1`,
  };
  return {
    name: 'portkey',
    place: { port, path: '/v1/chat/completions', headers, pids: [pid] },
    parts: [{ name: 'portkey', pid }],
    stop: () => stopChild(child),
  };
}

/** Into a folder of its own that later runs use again; never a dependency of this repository. */
function installPortkey(): string {
  const dir = join(tmpdir(), `iop-bench-portkey-${versions['@portkey-ai/gateway']}-hono-${versions.hono}`);
  const complete = join(dir, 'complete');
  if (existsSync(complete)) return dir;
  mkdirSync(dir, { recursive: true });
  const { hono, ...dependencies } = versions;
  writeFileSync(
    join(dir, 'package.json'),
    JSON.stringify({
      private: true,
      dependencies,
      overrides: { hono, '@hono/node-server': '$@hono/node-server' },
    }),
  );
  try {
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: dir,
      stdio: 'pipe',
    });
  } catch (error) {
    throw new Error('the Portkey gateway could not be installed by npm; leave it out by --targets', {
      cause: error,
    });
  }
  writeFileSync(complete, '');
  return dir;
}
