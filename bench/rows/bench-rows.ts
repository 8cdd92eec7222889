import type { RowId } from '../options.ts';
import { cliRow } from './cli-runs.ts';
import { embeddingsRow } from './embeddings.ts';
import { latencyRow } from './p1-latency.ts';
import { throughputRow } from './p2-throughput.ts';
import { streamRow } from './p3-streams.ts';
import { createCeilingRow } from './p4-ceiling.ts';
import { memoryRow } from './p5-memory.ts';
import { stalledRow } from './p6-stalled.ts';
import type { Row } from './row.ts';

/** In the order in which they are measured. */
export function benchRows(ids: readonly RowId[]): Row[] {
  const rows = [
    memoryRow,
    latencyRow,
    throughputRow,
    streamRow,
    createCeilingRow(),
    stalledRow,
    embeddingsRow,
    cliRow,
  ];
  return rows.filter((row) => ids.includes(row.id));
}
