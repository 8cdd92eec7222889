import { readdirSync } from 'node:fs';
import { readProc } from './read-proc.ts';

/** One line of the process table. */
export interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  /** Clock ticks since boot. */
  startTicks: number;
}

/** Of pids, both included. */
export interface PidRange {
  from: number;
  to: number;
}

/** All living processes that can be seen, or those in a range; empty where there is no `/proc`. */
export function readProcessTable(range: PidRange = { from: 0, to: Number.POSITIVE_INFINITY }): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const pid of pids()) {
    const row = pid >= range.from && pid <= range.to ? readRow(pid) : undefined;
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

/**
 * Everything that was started after `pid`, by its number: numbers are given in order. Undefined: they have
 * begun again from the start meanwhile. Whoever asks knows that they have not gone all the way round.
 */
export function pidsSince(pid: number): PidRange | undefined {
  const last = Number(readProc('/proc/loadavg').trim().split(' ').at(-1));
  return last >= pid ? { from: pid, to: last } : undefined;
}

/** The environment that the process was executed with holds `NAME=value`. */
export function hasVariable(pid: number, assignment: string): boolean {
  return `\0${readProc(`/proc/${pid}/environ`)}`.includes(`\0${assignment}\0`);
}

function pids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => name >= '0' && name < ':')
      .map(Number);
  } catch {
    return [];
  }
}

function readRow(pid: number): ProcessRow | undefined {
  const stat = readProc(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything: count fields after the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group] = fields;
  if (group === undefined || state === 'Z' || state === 'X') return undefined;
  return { pid, parent: Number(parent), group: Number(group), startTicks: Number(fields[19]) };
}
