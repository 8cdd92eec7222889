import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';

/** A process beyond the reuse of its number: pid, when it began, and in which boot. */
export interface ProcessIdentity {
  pid: number;
  /** Opaque; empty where the platform does not say. */
  startedAt: string;
}

export function ownProcessIdentity(): ProcessIdentity {
  return identityOf(process.pid);
}

/** Of a process that is known to be there; one that has just gone has an empty start. */
export function identityOf(pid: number): ProcessIdentity {
  return { pid, startedAt: startOf(pid) ?? '' };
}

/** Whether that very process still runs; a zombie does not. */
export function isRunning(identity: ProcessIdentity): boolean {
  const startedAt = startOf(identity.pid);
  if (startedAt === undefined) return false;
  return identity.startedAt === '' || startedAt === identity.startedAt;
}

/** Undefined: no such process. */
function startOf(pid: number): string | undefined {
  if (process.platform === 'linux') return startOnLinux(pid);
  const ps = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' });
  const line = ps.stdout?.trim() ?? '';
  return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
}

function startOnLinux(pid: number): string | undefined {
  try {
    // The name in parentheses may hold anything: count fields after the last one.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, ticks] = [fields[0], fields[19]];
    if (state === 'Z' || state === 'X' || ticks === undefined) return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${ticks}`;
  } catch {
    return undefined;
  }
}
