import { spawn } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where engines and models are kept between runs; never inside the repository. */
export function openScratch(): string {
  const uid = process.getuid?.() ?? 0;
  const dir = process.env.IOP_LIVE_DIR ?? join(tmpdir(), `iop-live-${uid}`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  // Programs are started from here: a folder that somebody else made first would be theirs to fill.
  const { uid: owner } = statSync(dir);
  if (owner !== uid) throw new Error(`${dir} belongs to uid ${owner}; set IOP_LIVE_DIR to a folder of yours`);
  return dir;
}

export interface Ran {
  ok: boolean;
  output: string;
}

/** Runs a command to its end or kills it after `timeoutMs`; never throws. */
export function run(command: readonly string[], timeoutMs: number, cwd?: string): Promise<Ran> {
  const [file = '', ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      ...(cwd === undefined ? {} : { cwd }),
    });
    let output = '';
    const keep = (text: Buffer) => {
      output = (output + text.toString('utf8')).slice(-20_000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (problem) => resolve({ ok: false, output: problem.message }));
    child.once('close', (code, signal) => {
      if (signal !== null) output += `\nended by ${signal}, at most ${timeoutMs} ms were given`;
      resolve({ ok: code === 0, output });
    });
  });
}
