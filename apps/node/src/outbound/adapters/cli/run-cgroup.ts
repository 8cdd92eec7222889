import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rmdir, writeFile } from 'node:fs/promises';
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
  // The kernel takes milliseconds for both; nobody else should wait for that.
  let added: Promise<void> = Promise.resolve();
  return {
    path,
    add(pid) {
      added = writeFile(join(path, 'cgroup.procs'), String(pid)).catch(ignore);
    },
    pids: () => readPids(join(path, 'cgroup.procs')),
    kill: () => attempt(() => writeFileSync(join(path, 'cgroup.kill'), '1')),
    remove: () => void added.then(() => rmdir(path)).catch(ignore),
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

/** In as many reads as it takes: the kernel gives a long list in pieces that are shorter than asked for. */
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

const ignore = () => {};
