import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { sleep } from '../load/sleep.ts';
import { iopPrograms } from './iop-programs.ts';

const run = promisify(execFile);
const limitMs = 60_000;

/** Asks for an API key by `iop` over the Edge's socket, as a person would, until the Edge is there. */
export async function createApiKey(edgeDir: string): Promise<string> {
  const socket = `${edgeDir}/operator.sock`;
  const args = [iopPrograms.cli, 'keys', 'create', 'bench', '--socket', socket, '--json'];
  let last: unknown = `there is no ${socket}`;
  for (const untilMs = performance.now() + limitMs; performance.now() < untilMs; await sleep(200)) {
    if (!existsSync(socket)) continue;
    try {
      const { stdout } = await run(process.execPath, args, { timeout: 20_000 });
      return (JSON.parse(stdout) as { secret: string }).secret;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`iop keys create did not succeed within ${limitMs} ms: ${String(last)}`);
}
