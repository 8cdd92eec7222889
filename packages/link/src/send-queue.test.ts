import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, decodeMessage, FrameDecoder, PingSchema, RunBodySchema } from '@iop/wire';
import type { LinkMessage } from './link.ts';
import { SendQueue } from './send-queue.ts';
import type { Transport } from './transport.ts';

const ping = (id: number): LinkMessage => ({ case: 'ping', value: create(PingSchema, { id }) });

function part(offset: number, sizeBytes = 60_000): LinkMessage {
  return { case: 'runBody', value: create(RunBodySchema, { offset, data: new Uint8Array(sizeBytes) }) };
}

/** A socket that has room or not, as told. */
function setup(): { queue: SendQueue; writes: string[][]; socket: { room: boolean } } {
  const socket = { room: true };
  const writes: string[][] = [];
  const write = (chunks: readonly Uint8Array[]): boolean => {
    const seen: string[] = [];
    const decoder = new FrameDecoder();
    for (const chunk of chunks)
      decoder.push(chunk, (body) => seen.push(decodeMessage(body).case ?? 'unknown'));
    assert.equal(decoder.heldBytes, 0, 'a write holds whole frames');
    writes.push(seen);
    return socket.room;
  };
  const transport = { write, unsentBytes: 0 } as unknown as Transport;
  return { queue: new SendQueue(transport), writes, socket };
}

test('all messages of a tick leave in one write, control first (L6, L7)', () => {
  const { queue, writes } = setup();
  queue.append(part(0, 100), 'data');
  for (let id = 0; id < 50; id++) queue.append(ping(id), 'control');
  queue.append(part(1, 100), 'data');
  queue.flush();
  assert.deepEqual(writes, [[...Array.from({ length: 50 }, () => 'ping'), 'runBody', 'runBody']]);
});

test('while the socket is full data waits and control goes on (L6)', () => {
  const { queue, writes, socket } = setup();
  socket.room = false;
  for (let offset = 0; offset < 5; offset++) queue.append(part(offset), 'data');
  queue.flush();
  assert.equal(writes.length, 1);
  const waiting = queue.dataBytes;
  assert.ok(waiting > 100_000);
  queue.append(ping(1), 'control');
  queue.flush();
  assert.deepEqual(writes.at(-1), ['ping']);
  assert.equal(queue.dataBytes, waiting);
  socket.room = true;
  queue.unblock();
  queue.flush();
  assert.equal(queue.dataBytes, 0);
  assert.equal(writes.flat().filter((kind) => kind === 'runBody').length, 5);
});

test('an empty queue writes nothing', () => {
  const { queue, writes } = setup();
  queue.flush();
  assert.deepEqual(writes, []);
});
