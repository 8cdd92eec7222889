import process from 'node:process';
import type { Clock } from '@iop/domain';
import { identityOf } from '@iop/shell';
import { endTree } from './end-tree.ts';
import type { LedgerEntry, OrphanLedger } from './orphan-ledger.ts';
import { type PidRange, pidsSince } from './process-table.ts';
import type { TreeMarks } from './process-tree.ts';
import { createRunCgroup, type RunCgroup } from './run-cgroup.ts';

export interface ProcessesInit {
  runId: string;
  attempt: number;
  mark: string;
  ledger: OrphanLedger;
  clock: Clock;
}

/** The processes of one run, from before the first is started until none is left (C6, C12). */
export class RunProcesses {
  readonly #mark: string;
  readonly #clock: Clock;
  readonly #cgroup: RunCgroup | undefined;
  readonly #entry: LedgerEntry;
  readonly #known = new Map<number, number>();
  #leader: number | undefined;
  #firstLeader = 0;
  #startedAtMs = 0;
  #sinceTicks = 0;
  #hasLeaderEnded = false;

  /** Throws if it cannot be written down: then nothing may be started. */
  constructor({ runId, attempt, mark, ledger, clock }: ProcessesInit) {
    this.#mark = mark;
    this.#clock = clock;
    this.#cgroup = createRunCgroup(`iop-${mark}`);
    this.#entry = ledger.open({ runId, attempt, mark, cgroup: this.#cgroup?.path ?? '' });
  }

  started(pid: number): void {
    this.#cgroup?.add(pid);
    this.#leader = pid;
    this.#firstLeader = pid;
    this.#startedAtMs = this.#clock.now();
    const identity = identityOf(pid);
    this.#sinceTicks = Number(identity.startedAt.split('/').at(-1)) || 0;
    this.#entry.started(identity);
  }

  leaderEnded(): void {
    this.#hasLeaderEnded = true;
  }

  /** Ends all there is; how many are left in spite of everything. */
  async end(graceMs: number): Promise<number> {
    const left = await endTree(() => this.#tree(), graceMs, this.#clock);
    if (left === 0) this.forget();
    return left;
  }

  /** Nothing is left, or nothing was ever started. */
  forget(): void {
    this.#cgroup?.remove();
    this.#entry.forget();
  }

  #tree(): TreeMarks {
    // The number belongs to the run as long as its group has members without a break; once it had
    // none it may be anybody's.
    if (this.#hasLeaderEnded && this.#leader !== undefined && !groupExists(this.#leader)) {
      this.#leader = undefined;
    }
    return {
      mark: this.#mark,
      cgroup: this.#cgroup,
      leader: this.#leader,
      sinceTicks: this.#sinceTicks,
      range: this.#range(),
      known: this.#known,
    };
  }

  /** Spares a young run the look at everything that lives. */
  #range(): PidRange | undefined {
    const isYoung = this.#firstLeader > 0 && this.#clock.now() - this.#startedAtMs < roundMs;
    return isYoung ? pidsSince(this.#firstLeader) : undefined;
  }
}

/** In less the system cannot have given all its numbers once. */
const roundMs = 1_000;

function groupExists(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}
