import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A cgroup (v2) of one run: nothing that is in it can leave it by any call of its own. */
export interface RunCgroup {
  readonly path: string;
  add(pid: number): void;
  pids(): number[];
  /** Kills all that is in it at once, where the kernel can. */
  kill(): void;
  /** Takes it away; stays where it is while something is in it. */
  remove(): void;
}

/** Undefined: there is no cgroup v2 here that this process may divide. */
export function createRunCgroup(name: string): RunCgroup | undefined {
  const base = ownCgroup();
  if (base === undefined) return undefined;
  const path = join(base, name);
  try {
    mkdirSync(path);
  } catch {
    return undefined;
  }
  return openRunCgroup(path);
}

export function openRunCgroup(path: string): RunCgroup {
  return {
    path,
    add: (pid) => attempt(() => writeFileSync(join(path, 'cgroup.procs'), String(pid))),
    pids: () => readPids(join(path, 'cgroup.procs')),
    kill: () => attempt(() => writeFileSync(join(path, 'cgroup.kill'), '1')),
    remove: () => attempt(() => rmdirSync(path)),
  };
}

let known: { path: string | undefined } | undefined;

function ownCgroup(): string | undefined {
  known ??= { path: findOwnCgroup() };
  return known.path;
}

function findOwnCgroup(): string | undefined {
  try {
    const own = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
    // … root mount-point options [tags] - type source …
    const mount = /^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(
      readFileSync('/proc/self/mountinfo', 'utf8'),
    );
    if (own === undefined || mount === null || own.includes('..')) return undefined;
    const [, root = '/', point = ''] = mount;
    if (root !== '/' && own !== root && !own.startsWith(`${root}/`)) return undefined;
    return join(point, root === '/' ? own : own.slice(root.length));
  } catch {
    return undefined;
  }
}

function readPids(file: string): number[] {
  try {
    return readFileSync(file, 'latin1').split('\n').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** A cgroup is a help, not a condition: mark, group and descent go on without it. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // no longer there, or not ours to change
  }
}
