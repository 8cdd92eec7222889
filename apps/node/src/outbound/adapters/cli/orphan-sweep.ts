import type { Clock } from '@iop/domain';
import { isRunning } from '@iop/shell';
import type { Log } from '../../../ports/log.ts';
import { endTree } from './end-tree.ts';
import type { LedgerRecord, OrphanLedger } from './orphan-ledger.ts';
import { signalTree, type TreeMarks } from './process-tree.ts';
import { openRunCgroup } from './run-cgroup.ts';

/** TERM, so long, then KILL: nobody waits for these any more, and nothing may come before they are gone. */
const graceMs = 500;

export interface SweepDeps {
  ledger: OrphanLedger;
  clock: Clock;
  log: Log;
}

/** Ends what a killed Node left running, and nothing else (C13). Call it once, before runs come. */
export async function sweepOrphans(deps: SweepDeps): Promise<void> {
  const left = deps.ledger.left();
  if (left.length > 0) deps.log.info({ runs: left.length }, 'ending what is left of runs of before');
  await Promise.all(left.map((record) => sweepOne(record, deps)));
}

/** At the end of the Node: what would not stop in time is killed now. */
export function killRemaining(ledger: OrphanLedger): void {
  for (const record of ledger.live) signalTree(provenTree(record, new Map()), 'SIGKILL');
}

async function sweepOne(record: LedgerRecord, { ledger, clock, log }: SweepDeps): Promise<void> {
  const { runId: run, leader } = record;
  const known = new Map<number, number>();
  const left = await endTree(() => provenTree(record, known), graceMs, clock);
  if (left > 0) {
    log.error({ run, pid: leader?.pid, processes: left }, 'processes of a run of before would not end');
    return;
  }
  if (record.cgroup !== '') openRunCgroup(record.cgroup).remove();
  ledger.forget(record);
  log.info({ run, pid: leader?.pid }, 'nothing is left of a run that was going on when iop-node ended');
}

/** The recorded pid counts only if it is that very process: same start, same boot. */
function provenTree({ mark, cgroup, leader }: LedgerRecord, known: TreeMarks['known']): TreeMarks {
  const isLeader = leader !== undefined && leader.startedAt !== '' && isRunning(leader);
  return {
    mark,
    cgroup: cgroup === '' ? undefined : openRunCgroup(cgroup),
    leader: isLeader ? leader.pid : undefined,
    sinceTicks: 0,
    range: undefined,
    known,
  };
}
