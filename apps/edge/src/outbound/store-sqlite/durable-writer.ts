import type { DurableWrite } from './messages.ts';
import type { StoreLink } from './store-link.ts';

/** Writes that resolve when durable. Those that come while one is on its way share the next transaction. */
export interface DurableWriter {
  write(write: DurableWrite): Promise<void>;
}

interface Pending {
  write: DurableWrite;
  resolve(): void;
  reject(reason: unknown): void;
}

export function createDurableWriter(
  link: StoreLink,
  onProblem: (problem: string | undefined) => void,
): DurableWriter {
  let pending: Pending[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (pending.length > 0) {
      const batch = pending;
      pending = [];
      await writeBatch(batch);
    }
    isWriting = false;
  }

  async function writeBatch(batch: readonly Pending[]): Promise<void> {
    try {
      await link.ask({ kind: 'write-durably', writes: batch.map((each) => each.write) });
      onProblem(undefined);
      for (const each of batch) each.resolve();
    } catch (reason) {
      onProblem(reason instanceof Error ? reason.message : String(reason));
      for (const each of batch) each.reject(reason);
    }
  }

  return {
    write: (write) =>
      new Promise<void>((resolve, reject) => {
        pending.push({ write, resolve, reject });
        if (!isWriting) void writeAll();
      }),
  };
}
