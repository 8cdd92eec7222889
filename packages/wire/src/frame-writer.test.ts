import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { decodeMessage, encodeMessage, type WireMessage } from './codec.ts';
import { FrameDecoder } from './frame-decoder.ts';
import { encodeFrame, FrameWriter } from './frame-writer.ts';
import { PingSchema } from './gen/iop/wire/v1/life_pb.ts';
import { RunBodySchema, RunEventsSchema } from './gen/iop/wire/v1/run_pb.ts';
import { createRandom } from './testing/random.ts';
import { randomMessage } from './testing/random-message.ts';

const ping = (id: number): WireMessage => ({ case: 'ping', value: create(PingSchema, { id }) });

function body(sizeBytes: number): WireMessage {
  return {
    case: 'runBody',
    value: create(RunBodySchema, { runId: 'r', data: new Uint8Array(sizeBytes).fill(3) }),
  };
}

function read(chunks: readonly Uint8Array[]): Uint8Array[] {
  const decoder = new FrameDecoder();
  const bodies: Uint8Array[] = [];
  for (const chunk of chunks)
    assert.equal(
      decoder.push(chunk, (frame) => bodies.push(frame)),
      undefined,
    );
  assert.equal(decoder.heldBytes, 0);
  return bodies;
}

test('frames of one tick are one chunk', () => {
  const writer = new FrameWriter();
  for (let id = 1; id <= 20; id++) writer.append(ping(id));
  const chunks = writer.take();
  assert.equal(chunks.length, 1);
  assert.equal(read(chunks).length, 20);
  assert.equal(writer.sizeBytes, 0);
  assert.deepEqual(writer.take(), []);
});

test('what was taken is never written again', () => {
  const writer = new FrameWriter();
  const taken: [Uint8Array, string][] = [];
  for (let id = 1; id <= 3000; id++) {
    writer.append(ping(id));
    if (id % 7 === 0)
      for (const chunk of writer.take()) taken.push([chunk, Buffer.from(chunk).toString('hex')]);
  }
  for (const [chunk, before] of taken) assert.equal(Buffer.from(chunk).toString('hex'), before);
});

test('takeUpTo gives whole frames and stops once the limit is reached', () => {
  const writer = new FrameWriter();
  for (let count = 0; count < 10; count++) writer.append(body(40_000));
  const before = writer.sizeBytes;
  const first = writer.takeUpTo(64 * 1024);
  const size = first.reduce((sum, chunk) => sum + chunk.length, 0);
  assert.ok(size >= 64 * 1024 && size < 64 * 1024 + 40_100);
  assert.equal(writer.sizeBytes, before - size);
  assert.equal(read(first).length + read(writer.take()).length, 10);
});

test('large data is sent from where it lies, and never parted from its frame', () => {
  const writer = new FrameWriter();
  const data = new Uint8Array(40_000).fill(7);
  const large = (more: boolean): WireMessage => ({
    case: 'runEvents',
    value: create(RunEventsSchema, {
      runId: 'r',
      events: [{ kind: { case: 'raw', value: { data, more } } }],
    }),
  });
  const sent = [ping(1), large(true), ping(2), large(false), large(true)];
  for (const message of sent) writer.append(message);
  const chunks: Uint8Array[] = [];
  for (let size = writer.sizeBytes; size > 0; size = writer.sizeBytes) {
    const taken = writer.takeUpTo(1);
    read(taken);
    assert.equal(
      taken.reduce((sum, chunk) => sum + chunk.length, 0),
      size - writer.sizeBytes,
    );
    chunks.push(...taken);
  }
  assert.equal(chunks.filter((chunk) => chunk === data).length, 3);
  const expected = sent.map((message) => Buffer.from(encodeMessage(message)));
  assert.deepEqual(
    read(chunks).map((body) => Buffer.from(body)),
    expected,
  );
});

test('a message larger than a frame is refused before anything of it is queued', () => {
  const writer = new FrameWriter();
  assert.throws(() => writer.append(body(1024 * 1024)), { name: 'IopError', code: 'wire.frame-too-large' });
  assert.equal(writer.sizeBytes, 0);
});

test('trim lets go of a large slab but never of unsent frames', () => {
  const writer = new FrameWriter();
  for (let count = 0; count < 40; count++) writer.append(body(4000));
  writer.trim();
  assert.equal(read(writer.take()).length, 40);
  writer.trim();
  writer.append(ping(1));
  assert.ok((writer.take()[0]?.buffer.byteLength ?? 0) <= 1024);
});

test('every message crosses unchanged, alone and in a row', () => {
  const random = createRandom(1);
  const writer = new FrameWriter();
  const messages = Array.from({ length: 500 }, () => randomMessage(random));
  for (const message of messages) writer.append(message);
  const bodies = read(writer.take());
  for (const [at, message] of messages.entries()) {
    assert.deepEqual(
      Buffer.from(bodies[at] as Uint8Array),
      Buffer.from(encodeMessage(message)),
      message.case,
    );
    assert.deepEqual(Buffer.from(encodeFrame(message).subarray(4)), Buffer.from(encodeMessage(message)));
    assert.deepEqual(
      Buffer.from(encodeMessage(decodeMessage(encodeMessage(message)) as WireMessage)),
      Buffer.from(encodeMessage(message)),
    );
  }
});
