import { readdirSync, readFileSync } from 'node:fs';

/** One line of the process table. */
export interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  /** Clock ticks since boot. */
  startTicks: number;
}

/** All living processes that can be seen; empty where there is no `/proc`. */
export function readProcessTable(): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const name of pids()) {
    const row = readRow(name);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

/** The environment that the process was executed with holds `NAME=value`. */
export function hasVariable(pid: number, assignment: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`);
    const at = environment.indexOf(`${assignment}\0`);
    return at === 0 || (at > 0 && environment[at - 1] === 0);
  } catch {
    return false; // gone meanwhile, or somebody else's
  }
}

function pids(): string[] {
  try {
    return readdirSync('/proc').filter((name) => name >= '0' && name < ':');
  } catch {
    return [];
  }
}

function readRow(name: string): ProcessRow | undefined {
  try {
    // The name in parentheses may hold anything: count fields after the last one.
    const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, parent, group] = fields;
    if (state === 'Z' || state === 'X') return undefined;
    return {
      pid: Number(name),
      parent: Number(parent),
      group: Number(group),
      startTicks: Number(fields[19]),
    };
  } catch {
    return undefined;
  }
}
