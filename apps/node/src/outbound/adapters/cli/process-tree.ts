import process from 'node:process';
import { markVariable } from './child-environment.ts';
import { hasVariable, type PidRange, type ProcessRow, readProcessTable } from './process-table.ts';
import type { RunCgroup } from './run-cgroup.ts';

/** How the processes of a run are known (C5, C13). */
export interface TreeMarks {
  mark: string;
  cgroup: RunCgroup | undefined;
  /** A leader that is certainly the run's own; its group is too. */
  leader: number | undefined;
  /** Nothing of the run began before this tick; 0: not known. */
  sinceTicks: number;
  /** Nothing of the run has another pid; undefined: not known. */
  range: PidRange | undefined;
  /**
   * What was found before: start tick by pid. Who was seen to belong to the run goes on belonging to
   * it, also when the parent by which it was known is gone. Filled here.
   */
  known: Map<number, number>;
}

/** Pids of everything alive of the run; descendants of what is known belong to it. */
export function membersOf(tree: TreeMarks): number[] {
  const rows = readProcessTable(tree.range);
  const assignment = `${markVariable}=${tree.mark}`;
  const members = new Set(tree.cgroup?.pids());
  const isOwn = (row: ProcessRow) =>
    row.pid === tree.leader ||
    row.group === tree.leader ||
    tree.known.get(row.pid) === row.startTicks ||
    (row.startTicks >= tree.sinceTicks && hasVariable(row.pid, assignment));
  for (const row of rows) if (isOwn(row)) members.add(row.pid);
  while (addChildren(rows, members)) {
    // until nothing is added
  }
  members.delete(process.pid);
  members.delete(1);
  for (const { pid, startTicks } of rows) if (members.has(pid)) tree.known.set(pid, startTicks);
  return [...members];
}

/** @returns how many processes were found; on systems without `/proc` only the group is signalled */
export function signalTree(tree: TreeMarks, signal: 'SIGTERM' | 'SIGKILL'): number {
  // Before any of them is signalled: descent is seen only as long as parents live.
  const members = membersOf(tree);
  if (tree.leader !== undefined) send(-tree.leader, signal);
  if (signal === 'SIGKILL' && members.length > 0) tree.cgroup?.kill();
  for (const pid of members) send(pid, signal);
  return members.length;
}

function addChildren(rows: readonly ProcessRow[], members: Set<number>): boolean {
  const before = members.size;
  for (const row of rows) if (members.has(row.parent)) members.add(row.pid);
  return members.size > before;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone meanwhile
  }
}
