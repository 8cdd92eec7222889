import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from '@iop/shell';

/** What is known of one run's processes, also to a Node that comes after this one. */
export interface LedgerRecord {
  runId: string;
  attempt: number;
  /** Value of the variable that every process of the run carries. */
  mark: string;
  /** Path; empty: none. */
  cgroup: string;
  /** Undefined until it was started. */
  leader: ProcessIdentity | undefined;
}

export interface LedgerEntry {
  /** The child is there. */
  started(leader: ProcessIdentity): void;
  /** Nothing of it is left. */
  forget(): void;
}

/** Files in the Node's state directory, one for each run whose processes may live (C12). */
export class OrphanLedger {
  readonly #directory: string;
  readonly #live = new Map<string, LedgerRecord>();

  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  /** Runs of this very process that are not over. */
  get live(): readonly LedgerRecord[] {
    return [...this.#live.values()];
  }

  /** Writes down what is about to be started; throws if it cannot: then nothing may be started. */
  open(record: Omit<LedgerRecord, 'leader'>): LedgerEntry {
    const full: LedgerRecord = { ...record, leader: undefined };
    this.#write(full);
    this.#live.set(record.mark, full);
    return {
      started: (leader) => {
        full.leader = leader;
        this.#write(full);
      },
      forget: () => this.forget(full),
    };
  }

  forget({ mark }: LedgerRecord): void {
    this.#live.delete(mark);
    rmSync(this.#file(mark), { force: true });
  }

  /** Runs of an earlier process on the same state directory. */
  left(): LedgerRecord[] {
    const records: LedgerRecord[] = [];
    for (const name of readdirSync(this.#directory)) {
      if (!name.endsWith('.json')) continue;
      const record = readRecord(join(this.#directory, name));
      if (record === undefined) rmSync(join(this.#directory, name), { force: true });
      else if (!this.#live.has(record.mark)) records.push(record);
    }
    return records;
  }

  #file(mark: string): string {
    return join(this.#directory, `${mark}.json`);
  }

  /** Whole or not at all: a reader never sees half a record. */
  #write(record: LedgerRecord): void {
    const file = this.#file(record.mark);
    writeFileSync(`${file}.tmp`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${file}.tmp`, file);
  }
}

function readRecord(file: string): LedgerRecord | undefined {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Partial<LedgerRecord>;
    return isRecord(value) ? { ...value, leader: value.leader } : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: Partial<LedgerRecord>): value is LedgerRecord {
  const { runId, mark, cgroup, leader } = value;
  const isLeader =
    leader === undefined ||
    (Number.isInteger(leader.pid) && leader.pid > 1 && typeof leader.startedAt === 'string');
  return (
    typeof runId === 'string' &&
    typeof mark === 'string' &&
    /^[0-9a-f]{32}$/.test(mark) &&
    typeof cgroup === 'string' &&
    isLeader
  );
}
