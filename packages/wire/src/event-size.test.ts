import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { eventOverheadBytes, runEventSizeBytes } from './event-size.ts';
import { type RunEvent, RunEventSchema } from './gen/iop/wire/v1/run_pb.ts';
import { toEndEvent } from './run-end.ts';
import { createRandom } from './testing/random.ts';
import { randomOf } from './testing/random-message.ts';

test('both sides of the wire count the same size for any event', () => {
  const random = createRandom(6);
  for (let at = 0; at < 1000; at++) {
    const event = randomOf(RunEventSchema, random) as RunEvent;
    const arrived = fromBinary(RunEventSchema, toBinary(RunEventSchema, event));
    assert.equal(runEventSizeBytes(arrived), runEventSizeBytes(event), JSON.stringify(event.kind.case));
  }
});

test('a raw event takes its bytes and a little more, the end takes nothing', () => {
  const raw = {
    case: 'raw',
    value: { $typeName: 'iop.wire.v1.RawEvent', dialect: 'd', data: new Uint8Array(9), more: false },
  };
  assert.equal(
    runEventSizeBytes({ $typeName: 'iop.wire.v1.RunEvent', kind: raw } as RunEvent),
    9 + eventOverheadBytes,
  );
  const end = { case: 'end' as const, value: toEndEvent({ kind: 'completed', finish: 'stop' }) };
  assert.equal(runEventSizeBytes({ $typeName: 'iop.wire.v1.RunEvent', kind: end }), 0);
});
