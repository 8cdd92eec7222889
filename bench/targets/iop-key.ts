import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { sleep } from '../load/sleep.ts';
import { iopPrograms } from './iop-programs.ts';

const run = promisify(execFile);
const limitMs = 15_000;

/** Asks for an API key by `iop` over the Edge's socket, as a person would, until the Edge is there. */
export async function createApiKey(edgeDir: string): Promise<string> {
  const args = [iopPrograms.cli, 'keys', 'create', 'bench', '--socket', `${edgeDir}/operator.sock`, '--json'];
  let last: unknown;
  for (const untilMs = performance.now() + limitMs; performance.now() < untilMs; await sleep(200)) {
    try {
      const { stdout } = await run(process.execPath, args, { timeout: 10_000 });
      return (JSON.parse(stdout) as { key: string }).key;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`iop keys create did not succeed within ${limitMs} ms`, { cause: last });
}
