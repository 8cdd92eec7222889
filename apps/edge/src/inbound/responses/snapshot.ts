import type { KeptResponse } from './kept-response.ts';
import { type ReadWish, readLog } from './log-reading.ts';
import type { Called } from './responses-port.ts';
import { ownFields } from './show-response.ts';

/** How long an answer waits for what the log says to have been read: the disk may be slow. */
export const patienceMs = 5_000;

/** Answers with a response as it stands. */
export async function showSnapshot(called: Called, kept: KeptResponse, wish: ReadWish): Promise<void> {
  const { exchange } = called;
  exchange.runId = kept.identity.runId;
  const read = await readLog(called, kept, wish);
  if (read.kind === 'broken') exchange.refuse(read.refusal);
  else if (!exchange.isOver) exchange.json(200, read.writer.toResponse(), ownFields(kept.identity));
}
