import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMessage } from '@iop/wire';
import {
  attemptEvent,
  batchOf,
  completedEvent,
  failedEvent,
  plain,
  rawEvent,
} from '../../ports/run-log.contract.ts';
import type { LogEvent } from '../../ports/run-log.ts';
import { toLogEvent } from '../../run-events/from-wire.ts';
import { encodeEvent } from './encode-event.ts';
import { headCells, segmentCells } from './log-table.ts';
import { PendingRun } from './pending-run.ts';
import { endOfEvent, isOwnAt, skipEvents } from './segment-bytes.ts';
import { SegmentEncoder } from './segment-encoder.ts';
import { withoutUpstreamBody } from './upstream-body.ts';

function encode(run: PendingRun) {
  const encoder = new SegmentEncoder();
  encoder.begin(10, undefined);
  encoder.add(run, 0);
  const { logs, events } = encoder.end();
  const segments = Array.from({ length: Number(logs[6]) }, (_, index) => {
    const at = headCells + index * segmentCells;
    const bytes = events?.subarray(Number(logs[at + 3]), Number(logs[at + 4])) ?? new Uint8Array();
    return { firstPos: logs[at], count: logs[at + 1], holds: logs[at + 2], bytes };
  });
  return { segments, refused: encoder.refused };
}

function decode(bytes: Uint8Array): unknown {
  const length: number[] = [];
  let rest = bytes.length;
  for (; rest > 0x7f; rest >>>= 7) length.push((rest & 0x7f) | 0x80);
  const message = decodeMessage(
    new Uint8Array(Buffer.concat([new Uint8Array([0x82, 0x01, ...length, rest]), bytes])),
  );
  return message.case === 'runEvents' ? plain(message.value.events.map(toLogEvent) as LogEvent[]) : undefined;
}

test('batches that follow each other are one segment; a gap begins another', () => {
  const run = new PendingRun('run_1', 1);
  run.append(batchOf({ events: [attemptEvent] }));
  run.append(batchOf({ firstPos: 2, events: [rawEvent('a'), rawEvent('b')] }));
  run.append(batchOf({ firstPos: 7, events: [completedEvent] }));
  const { segments } = encode(run);
  assert.deepEqual(
    segments.map(({ firstPos, count, holds }) => [firstPos, count, holds]),
    [
      [1, 3, 3],
      [7, 1, 1],
    ],
  );
  const [first] = segments;
  assert.deepEqual(
    decode(first?.bytes ?? new Uint8Array()),
    plain([attemptEvent, rawEvent('a'), rawEvent('b')]),
  );
});

test('a segment does not grow beyond what a page should read', () => {
  const run = new PendingRun('run_1', 1);
  for (let pos = 1; pos <= 10; pos++) {
    run.append(batchOf({ firstPos: pos, events: [rawEvent('x'.repeat(20_000))] }));
  }
  const { segments } = encode(run);
  assert.deepEqual(
    segments.map(({ count }) => count),
    [3, 3, 3, 1],
  );
});

test('an event that no codec takes is a gap and is counted, the others are written', () => {
  const run = new PendingRun('run_1', 1);
  const bad: LogEvent = { ...attemptEvent, waitedMs: 0.5 } as LogEvent;
  run.append(batchOf({ events: [rawEvent('a'), bad, rawEvent('c'), completedEvent] }));
  const { segments, refused } = encode(run);
  assert.equal(refused, 1);
  const positions = segments.flatMap(({ firstPos, count }) =>
    Array.from({ length: Number(count) }, (_, index) => Number(firstPos) + index),
  );
  assert.deepEqual(positions, [1, 3, 4]);
});

test('encoded events can be walked over, and the Edge’s own are told apart', () => {
  const events = [attemptEvent, rawEvent('x'.repeat(300)), completedEvent];
  const bytes = Buffer.concat(events.map(encodeEvent));
  const starts = [0, 1, 2].map((count) => skipEvents(bytes, count));
  assert.deepEqual(
    starts.map((at) => isOwnAt(bytes, at)),
    [true, false, true],
  );
  assert.equal(endOfEvent(bytes, starts[2] ?? 0), bytes.length);
});

test('an end loses what the upstream answered and nothing else', () => {
  const stripped = withoutUpstreamBody(encodeEvent(failedEvent));
  assert.ok(failedEvent.kind === 'end' && failedEvent.end.kind === 'failed');
  const { upstream, ...failure } = failedEvent.end.failure;
  assert.deepEqual(decode(stripped), plain([{ kind: 'end', end: { ...failedEvent.end, failure } }]));
  for (const event of [completedEvent, attemptEvent, rawEvent('a')]) {
    assert.deepEqual([...withoutUpstreamBody(encodeEvent(event))], [...encodeEvent(event)]);
  }
});
