import { execFile } from 'node:child_process';
import process from 'node:process';
import { IopError } from '@iop/domain';
import { partCommand, partMark } from './part-command.ts';

interface ChildFailure extends Error {
  code?: number | string | null;
}

/** Makes the Edge's identity and tokens where they are missing; gives its pin. Nothing that exists is changed. */
export function initEdge(stateDir: string, signal: AbortSignal): Promise<string> {
  const [file = '', ...rest] = partCommand('edge');
  const args = [...rest, 'init', '--state-dir', stateDir, '--name', 'local', '--json'];
  return new Promise((resolve, reject) => {
    execFile(
      file,
      args,
      { signal, timeout: 20_000, env: { ...process.env, [partMark]: 'edge' } },
      (error, stdout, stderr) => {
        const pin = error === null ? readPin(stdout) : undefined;
        if (pin === undefined) reject(initError(error, stderr));
        else resolve(pin);
      },
    );
  });
}

function readPin(stdout: string): string | undefined {
  try {
    const { pin } = JSON.parse(stdout) as { pin?: unknown };
    return typeof pin === 'string' ? pin : undefined;
  } catch {
    return undefined;
  }
}

function initError(error: ChildFailure | null, stderr: string): Error {
  if (error?.name === 'AbortError') return error;
  const exitCode = typeof error?.code === 'number' ? error.code : 70;
  const message = `iop-edge init failed (exit code ${exitCode}): ${stderr.trim() || 'it printed no pin'}`;
  return new IopError({ kind: 'unavailable', code: 'up.init', message, details: { exitCode } });
}
