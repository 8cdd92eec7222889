import type { RunOrders } from '../../ports/run-orders.ts';
import type { RunRecords } from '../../ports/run-records.ts';
import type { GroupWriter } from './group-writer.ts';
import type { StoreLink } from './store-link.ts';

/** Records as core sees them: written by the group writer, read from the thread once what was given is written. */
export function createRunRecords(link: StoreLink, writer: GroupWriter): RunRecords {
  return {
    save: (record) => writer.save(record),
    commit: (record) => writer.commit(record),
    noteStale: (runId, words) => writer.noteStale(runId, words),
    flush: () => writer.settle(),
    async find(runId) {
      await writer.settle(runId);
      return link.ask({ kind: 'find-run', runId });
    },
    async list(query) {
      await writer.settle();
      return link.ask({ kind: 'list-runs', query });
    },
    async usage(query) {
      await writer.settle();
      return link.ask({ kind: 'sum-usage', query });
    },
  };
}

export function createRunOrders(link: StoreLink, writer: GroupWriter): RunOrders {
  return {
    create: (creation) => writer.create(creation),
    keep: (order) => writer.keep(order),
    deleteContent: (runId) => writer.deleteContent(runId),
    async find(runId) {
      await writer.settle(runId);
      return link.ask({ kind: 'find-order', runId });
    },
  };
}
