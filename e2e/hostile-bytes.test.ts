// F16: bytes that no friend would send, at the wire port and at the HTTP port of an Edge that works. Every
// hostile connection is closed, memory stays where it was, and the work of others does not notice.
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { chat, readStream } from './harness/chat.ts';
import { within } from './harness/eventually.ts';
import { at, openScene, type Scene } from './harness/scene.ts';

const limit = { timeout: 60_000 };

/** A frame: 4 bytes of length, and what follows. */
function frame(length: number, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(length);
  return Buffer.concat([head, body]);
}

/** Sent instead of a Hello. */
const openings: { name: string; bytes: Buffer }[] = [
  { name: 'a length of 0xFFFFFFFF', bytes: frame(0xffffffff, Buffer.alloc(100_000, 'x')) },
  { name: 'a length of 0', bytes: frame(0) },
  { name: 'an unknown message', bytes: frame(3, Buffer.from([0xfa, 0x3e, 0x00])) },
  { name: 'a varint that never ends', bytes: frame(20, Buffer.alloc(20, 0xff)) },
  { name: 'a field that claims more bytes than there are', bytes: frame(3, Buffer.from([0x0a, 0x7f, 0x00])) },
  { name: 'a text that is no UTF-8', bytes: frame(6, Buffer.from([0x0a, 0x04, 0x1a, 0x02, 0xff, 0xfe])) },
  {
    name: 'random bytes',
    bytes: Buffer.from(Array.from({ length: 5_000 }, (_n, i) => (i * 197 + 11) & 255)),
  },
  {
    name: 'a hundred thousand tiny frames',
    bytes: Buffer.concat(Array(100_000).fill(frame(1, Buffer.from([0])))),
  },
  { name: 'an HTTP request', bytes: Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n') },
];

describe('F16: hostile bytes at a working Edge', { timeout: 300_000 }, () => {
  for (const tls of [true, false]) {
    describe(tls ? 'whose wire port speaks TLS' : 'whose wire port is plaintext', () => {
      let scene: Scene;
      before(async () => {
        scene = await openScene({ tls });
        at(scene.upstreams, 0).act({ kind: 'stream', chunks: Array(100).fill('x'), paceMs: 5 });
      });
      after(() => scene?.world.close());

      for (const { name, bytes } of openings) {
        test(`${name} is refused and closed, nobody else notices`, limit, async () => {
          const before = scene.edge.program.memoryBytes();
          const work = chat(scene.edge, { stream: true });
          await work.head;
          await Promise.all(Array.from({ length: 5 }, () => closedAfter(dial(scene, tls), bytes)));
          const reading = readStream((await work.answer).text);
          assert.equal(reading.content.length, 100);
          assert.equal(reading.done, true);
          const grown = scene.edge.program.memoryBytes() - before;
          assert.ok(grown < 48 << 20, `the Edge grew by ${grown} bytes`);
        });
      }

      test('a hundred handshakes that stall are closed, and a Node can still come', {
        timeout: 60_000,
      }, async () => {
        const stalled = Array.from({ length: 100 }, () => dial(scene, tls));
        const silent = Array.from({ length: 50 }, () => dial(scene, false));
        await sleep(200);
        await scene.world.node(scene.edge, { name: `late-${tls}` });
        for (const socket of stalled) socket.write(Buffer.from([0, 0]));
        await Promise.all([...stalled, ...silent].map((socket) => closed(socket, 30_000)));
      });
    });
  }

  describe('at its HTTP port', () => {
    let scene: Scene;
    before(async () => {
      scene = await openScene();
      at(scene.upstreams, 0).act({ kind: 'stream', chunks: Array(100).fill('x'), paceMs: 5 });
    });
    after(() => scene?.world.close());

    const requests: { name: string; bytes: Buffer }[] = [
      {
        name: 'random bytes',
        bytes: Buffer.from(Array.from({ length: 5_000 }, (_n, i) => (i * 31 + 7) & 255)),
      },
      {
        name: 'a header without an end',
        bytes: Buffer.concat([Buffer.from('GET / HTTP/1.1\r\nx: '), Buffer.alloc(4 << 20, 'y')]),
      },
      {
        name: 'a bad chunk size',
        bytes: Buffer.from(
          'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
        ),
      },
      {
        name: 'two lengths',
        bytes: Buffer.from(
          'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd',
        ),
      },
      { name: 'a TLS hello', bytes: Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3]) },
    ];
    for (const { name, bytes } of requests) {
      test(`${name} is refused and closed, nobody else notices`, limit, async () => {
        const work = chat(scene.edge, { stream: true });
        await work.head;
        const port = scene.edge.httpPort;
        const sockets = Array.from({ length: 5 }, () => connect(port).on('error', () => {}));
        await Promise.all(sockets.map((socket) => closedAfter(socket, bytes)));
        const reading = readStream((await work.answer).text);
        assert.equal(reading.content.length, 100);
        assert.equal(reading.done, true);
      });
    }
  });
});

function dial(scene: Scene, tls: boolean): Socket {
  const where = { host: '127.0.0.1', port: scene.edge.wirePort };
  const socket = tls ? connectTls({ ...where, rejectUnauthorized: false }) : connect(where);
  return socket.on('error', () => {}); // to be hung up on is what it is for
}

async function closedAfter(socket: Socket, bytes: Buffer): Promise<void> {
  socket.write(bytes);
  await closed(socket, 5_000);
}

function closed(socket: Socket, timeoutMs: number): Promise<void> {
  if (socket.closed) return Promise.resolve();
  socket.resume();
  const closing = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  return within('the Edge closes a hostile connection', timeoutMs, closing);
}
