import { listTasks, readProc } from './process-tree.ts';

/**
 * Nanoseconds that the processes have spent on a CPU, by the scheduler's own account
 * (`schedstat`, exact, against the 10 ms ticks of `stat`), over all their threads.
 */
export function readCpuNs(pids: readonly number[]): number {
  let sum = 0;
  for (const pid of pids) {
    for (const task of listTasks(pid)) sum += parseSchedstat(readProc(`/proc/${pid}/task/${task}/schedstat`));
  }
  return sum;
}

/** First of the three numbers: time on the CPU. */
export function parseSchedstat(text: string): number {
  const value = Number(text.slice(0, text.indexOf(' ')));
  return Number.isFinite(value) ? value : 0;
}

/** Clock ticks (user + system) out of `/proc/PID/stat`; the name in it may hold blanks and parentheses. */
export function parseStatTicks(text: string): number {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}
