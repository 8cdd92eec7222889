import { readdirSync, readFileSync } from 'node:fs';

/** The processes and all that descend from them, as Linux shows them in /proc. Those that are gone are left out. */
export function listTree(rootPids: readonly number[]): number[] {
  const found = new Set<number>();
  const waiting = [...rootPids];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    if (found.has(pid)) continue;
    const tasks = listTasks(pid);
    if (tasks.length === 0) continue;
    found.add(pid);
    for (const task of tasks) waiting.push(...readChildren(pid, task));
  }
  return [...found];
}

export function listTasks(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function readChildren(pid: number, task: string): number[] {
  return readProc(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number);
}

/** Empty when the process is gone. */
export function readProc(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
