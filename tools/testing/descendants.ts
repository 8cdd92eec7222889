import { readdirSync, readFileSync } from 'node:fs';

/** A process as it was seen below another one. */
export interface SeenProcess {
  pid: number;
  /** Ticks since boot: with the pid it names a process for good. */
  startedAt: string;
  command: string;
}

interface Stat {
  pid: number;
  parent: number;
  state: string;
  startedAt: string;
}

/**
 * Remembers every process that was ever seen below `root`, so that one which lost its parents is still
 * known. Linux only; elsewhere it sees nothing.
 */
export function watchDescendants(root: number, intervalMs = 250): { stop(): SeenProcess[] } {
  const seen = new Map<number, SeenProcess>();
  const look = (): void => {
    const stats = readStats();
    const below = new Set([root]);
    // Children of children: until a round finds nobody new.
    for (let before = 0; before !== below.size; ) {
      before = below.size;
      for (const stat of stats) if (below.has(stat.parent) || isKnown(seen, stat)) below.add(stat.pid);
    }
    below.delete(root);
    for (const stat of stats) if (below.has(stat.pid)) remember(seen, stat);
  };
  const timer = setInterval(look, intervalMs);
  return {
    stop() {
      clearInterval(timer);
      look();
      return [...seen.values()].filter(isAlive);
    },
  };
}

export function isAlive(process: SeenProcess): boolean {
  const stat = readStat(String(process.pid));
  return (
    stat !== undefined && stat.startedAt === process.startedAt && stat.state !== 'Z' && stat.state !== 'X'
  );
}

function isKnown(seen: ReadonlyMap<number, SeenProcess>, stat: Stat): boolean {
  return seen.get(stat.pid)?.startedAt === stat.startedAt;
}

function remember(seen: Map<number, SeenProcess>, stat: Stat): void {
  if (isKnown(seen, stat)) return;
  seen.set(stat.pid, { pid: stat.pid, startedAt: stat.startedAt, command: commandOf(stat.pid) });
}

function readStats(): Stat[] {
  const names = process.platform === 'linux' ? readdirSync('/proc') : [];
  return names.filter((name) => /^\d+$/.test(name)).flatMap((name) => readStat(name) ?? []);
}

function readStat(pid: string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return {
      pid: Number(pid),
      state: fields[0] ?? '',
      parent: Number(fields[1]),
      startedAt: fields[19] ?? '',
    };
  } catch {
    return undefined;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
