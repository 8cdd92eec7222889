import { decodeMessage } from '@iop/wire';
import type { LogEvent, LogPage, LogQuery, RunLog } from '../../ports/run-log.ts';
import { toLogEvent } from '../../run-events/from-wire.ts';
import type { GroupWriter } from './group-writer.ts';
import { pageHeadBytes, type SegmentPage } from './messages.ts';
import type { StoreLink } from './store-link.ts';

export function createRunLog(link: StoreLink, writer: GroupWriter): RunLog {
  return {
    append: (batch) => writer.append(batch),
    async read(query) {
      await writer.settle(query.runId);
      const page = await link.ask({ kind: 'read-log', ...query });
      return page === undefined ? nothingAfter(query) : toLogPage(page);
    },
  };
}

function nothingAfter({ afterPos }: LogQuery): LogPage {
  return { firstPos: afterPos + 1, events: [] };
}

/** Bytes of events are views of the page. An event of a newer version is a gap. */
function toLogPage({ firstPos, bytes }: SegmentPage): LogPage {
  const message = decodeMessage(withHead(bytes));
  if (message.case !== 'runEvents') throw new Error('a segment of a log holds no events');
  const events = message.value.events.map(toLogEvent);
  const start = Math.max(
    0,
    events.findIndex((event) => event !== undefined),
  );
  const end = events.indexOf(undefined, start);
  return { firstPos: firstPos + start, events: events.slice(start, end < 0 ? undefined : end) as LogEvent[] };
}

/** What makes the events an Envelope with RunEvents, in the room before them. */
function withHead(bytes: Uint8Array): Uint8Array {
  const length: number[] = [];
  let rest = bytes.length - pageHeadBytes;
  for (; rest > 0x7f; rest >>>= 7) length.push((rest & 0x7f) | 0x80);
  const head = [0x82, 0x01, ...length, rest];
  bytes.set(head, pageHeadBytes - head.length);
  return bytes.subarray(pageHeadBytes - head.length);
}
