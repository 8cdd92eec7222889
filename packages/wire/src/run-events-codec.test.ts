import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { decodeMessage } from './codec.ts';
import { FrameWriter } from './frame-writer.ts';
import { EnvelopeSchema } from './gen/iop/wire/v1/envelope_pb.ts';
import { type RunEvents, RunEventsSchema } from './gen/iop/wire/v1/run_pb.ts';
import { readRunEvents } from './run-events-reader.ts';
import { RunEventsWriter } from './run-events-writer.ts';
import { createRandom, type Random } from './testing/random.ts';
import { randomOf } from './testing/random-message.ts';

/** Differential: the hand codec and the generated one agree on every byte. `IOP_FUZZ_CASES` for more. */
const cases = Number(process.env.IOP_FUZZ_CASES ?? 2_000);

function hot(random: Random): RunEvents {
  const events = Array.from({ length: random.below(4) }, () => {
    if (random.below(5) === 0) return {};
    const data = random.bytes(random.pick(random.below(50) === 0 ? [20_000] : [0, 1, 100, 127, 128, 200]));
    const dialect = random.pick(['', 'openai.chat', 'grün', 'd'.repeat(65)]);
    return { kind: { case: 'raw' as const, value: { dialect, data, more: random.below(4) === 0 } } };
  });
  const number = () => random.pick([0, 1, 127, 128, 70_000, 4_294_967_295]);
  return create(RunEventsSchema, {
    runId: random.pick(['', 'run_01jx5k8v3m4n5p6q7r8s9t0abc', 'ü']),
    attempt: number(),
    firstSeq: number(),
    events,
  });
}

function generated(value: RunEvents): Uint8Array {
  return toBinary(EnvelopeSchema, create(EnvelopeSchema, { message: { case: 'runEvents', value } }));
}

function written(value: RunEvents): Uint8Array {
  const writer = new FrameWriter();
  writer.append({ case: 'runEvents', value });
  return writer.take()[0]?.subarray(4) as Uint8Array;
}

function mutate(bytes: Uint8Array, random: Random): Uint8Array {
  const mutant = Uint8Array.from(bytes);
  for (let left = 1 + random.below(3); left > 0; left--)
    mutant[random.below(mutant.length)] = random.below(256);
  return random.below(3) === 0 ? mutant.subarray(0, random.below(mutant.length + 1)) : mutant;
}

function outcome(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch {
    return 'refused';
  }
}

test('the hand-written encoder gives the bytes of the generated one', () => {
  const random = createRandom(2);
  for (let at = 0; at < cases; at++) {
    const value = at % 3 === 0 ? (randomOf(RunEventsSchema, random) as RunEvents) : hot(random);
    assert.ok(
      Buffer.from(written(value)).equals(generated(value)),
      `case ${at}: ${JSON.stringify(value.runId)}`,
    );
  }
});

test('the hand-written decoder gives what the generated one gives, of good and of broken bytes', () => {
  const random = createRandom(3);
  for (let at = 0; at < cases; at++) {
    const value = at % 3 === 0 ? (randomOf(RunEventsSchema, random) as RunEvents) : hot(random);
    const good = generated(value);
    const bytes = at % 2 === 0 || good.length === 0 ? good : mutate(good, random);
    const expected = outcome(() => fromBinary(EnvelopeSchema, bytes, { readUnknownFields: false }).message);
    assert.deepEqual(
      outcome(() => decodeMessage(bytes)),
      expected,
      Buffer.from(bytes).toString('hex'),
    );
  }
});

test('the hot message really takes the fast path, both ways', () => {
  const data = new Uint8Array(200);
  const raw = { case: 'raw' as const, value: { dialect: 'openai.chat', data, more: false } };
  const value = create(RunEventsSchema, { runId: 'r', attempt: 1, firstSeq: 7, events: [{ kind: raw }] });
  assert.ok(new RunEventsWriter().measure(value) > 0);
  assert.deepEqual(readRunEvents(generated(value)), value);
});

test('numbers that are no uint32 are left to the generated codec, which refuses them', () => {
  for (const attempt of [-1, 1.5, 2 ** 32]) {
    const value = create(RunEventsSchema, { runId: 'r', attempt });
    assert.equal(new RunEventsWriter().measure(value), -1);
    assert.throws(() => written(value));
  }
});
