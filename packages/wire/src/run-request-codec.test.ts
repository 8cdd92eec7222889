import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import type { WireMessage } from './codec.ts';
import { RunClass, type RunRequest, RunRequestSchema } from './gen/iop/wire/v1/run_pb.ts';
import { measureRunRequest, readRunRequest } from './run-request-codec.ts';
import { generated, mutate, readings, written } from './testing/differential.ts';
import { createRandom, type Random } from './testing/random.ts';
import { randomOf } from './testing/random-message.ts';

const cases = Number(process.env.IOP_FUZZ_CASES ?? 2_000);

function typical(random: Random): RunRequest {
  const text = () => random.pick(['', 'mock', 'echo', 'openai.chat', 'modèle', 'x'.repeat(65)]);
  const number = () => random.pick([0, 1, 127, 128, 70_000, 4_294_967_295]);
  return create(RunRequestSchema, {
    runId: random.pick(['', 'run_01jx5k8v3m4n5p6q7r8s9t0abc']),
    attempt: number(),
    runClass: random.pick([RunClass.UNSPECIFIED, RunClass.ATTACHED, RunClass.DETACHED]),
    adapter: text(),
    target: text(),
    dialect: text(),
    stream: random.below(2) === 0,
    includeUsage: random.below(2) === 0,
    body: random.bytes(random.pick([0, 1, 127, 128, 300, 20_000])),
    bodySize: number(),
    eventCredit: number(),
    deadlineMs: number(),
    sessionId: text(),
    door: text(),
    metadata: random.below(8) === 0 ? { traceparent: '00-1' } : {},
    configRevision: number(),
  });
}

function some(at: number, random: Random): WireMessage {
  const value = at % 4 === 0 ? (randomOf(RunRequestSchema, random) as RunRequest) : typical(random);
  return { case: 'runRequest', value };
}

test('a request written by hand has the bytes of the generated codec', () => {
  const random = createRandom(5);
  for (let at = 0; at < cases; at++) {
    const message = some(at, random);
    assert.ok(Buffer.from(written(message)).equals(generated(message)), `case ${at}`);
  }
});

test('a request read by hand is what the generated codec reads, of good and of broken bytes', () => {
  const random = createRandom(6);
  for (let at = 0; at < cases; at++) {
    const good = generated(some(at, random));
    const bytes = at % 2 === 0 ? good : mutate(good, random);
    const { ours, generated: expected } = readings(bytes);
    assert.deepEqual(ours, expected, Buffer.from(bytes.subarray(0, 400)).toString('hex'));
  }
});

test('a usual request really takes the fast path, both ways', () => {
  const body = new TextEncoder().encode('{"model":"echo"}');
  const init = { runId: 'r', attempt: 1, adapter: 'mock', target: 'echo', dialect: 'openai.chat', body };
  const value = create(RunRequestSchema, { ...init, bodySize: body.length, configRevision: 300 });
  assert.ok(measureRunRequest(value) > 0);
  assert.deepEqual(readRunRequest(generated({ case: 'runRequest', value })), value);
});

test('a request with metadata, foreign letters or a number that is none is left to the generated codec', () => {
  for (const init of [{ metadata: { a: 'b' } }, { target: 'modèle' }, { attempt: -1 }, { attempt: 1.5 }])
    assert.equal(measureRunRequest(create(RunRequestSchema, init)), -1);
});
