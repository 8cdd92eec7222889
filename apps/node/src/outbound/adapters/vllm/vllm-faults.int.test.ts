import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createRecordingSink } from '@iop/runtime/testing';
import {
  answerStatus,
  answerStream,
  chunk,
  completion,
  cutStream,
  done,
  openStream,
  type Play,
} from '../../../testing/scripted-upstream.ts';
import { chatSpec } from '../../../testing/specs.ts';
import { createLab, createVllm, failureOf } from './vllm-fixture.ts';

const never = new AbortController().signal;

describe('vllm: an upstream that refuses', () => {
  it('reports what it said in both shapes of an error', async (test) => {
    const shapes = [
      { error: { message: 'too long', type: 'BadRequestError', param: null, code: 400 } },
      { object: 'error', message: 'too long', type: 'BadRequestError', param: null, code: 400 },
    ];
    for (const body of shapes) {
      const { run } = await createLab(test, answerStatus(400, body));
      const failure = failureOf((await run()).end);
      assert.equal(failure.kind, 'invalid');
      assert.equal(failure.retryable, false);
      assert.match(failure.message, /vllm at 127\.0\.0\.1:\d+ answered 400: too long/);
      assert.equal(failure.upstream?.status, 400);
      assert.equal(Buffer.from(failure.upstream?.body ?? []).toString(), JSON.stringify(body));
    }
  });

  for (const [status, kind] of [
    [429, 'exhausted'],
    [500, 'unavailable'],
    [503, 'unavailable'],
  ] as const) {
    it(`may be retried elsewhere after ${status}`, async (test) => {
      const { run } = await createLab(test, answerStatus(status, 'busy', { 'retry-after': '7' }));
      for (const stream of [true, false]) {
        const { sink, end } = await run({ stream });
        const failure = failureOf(end);
        assert.deepEqual([failure.kind, failure.code, failure.retryable], [kind, 'upstream.status', true]);
        assert.equal(failure.upstream?.retryAfterMs, 7_000);
        assert.equal(sink.events.length, 0);
      }
    });
  }

  it('is not followed to where it redirects', async (test) => {
    const { upstream, run } = await createLab(test, answerStatus(302, '', { location: '/v1/elsewhere' }));
    const failure = failureOf((await run()).end);
    assert.deepEqual([failure.code, failure.retryable], ['upstream.status', false]);
    assert.equal(upstream.exchanges.length, 1);
  });

  it('with an error in a 200 is a failure, streamed or not', async (test) => {
    const { run } = await createLab(test, answerStatus(200, { error: { message: 'no memory', code: 500 } }));
    for (const stream of [true, false]) {
      const failure = failureOf((await run({ stream })).end);
      assert.deepEqual([failure.code, failure.retryable], ['upstream.error', true]);
    }
  });

  it('keeps no more than 64 KiB of an endless error', async (test) => {
    const play: Play = async (exchange) => {
      exchange.response.writeHead(500);
      while (!exchange.gone) {
        exchange.response.write('x'.repeat(16_384));
        await sleep(1);
      }
    };
    const { upstream, run } = await createLab(test, play);
    const failure = failureOf((await run()).end);
    assert.equal(failure.upstream?.body.length, 64 * 1024);
    await upstream.exchanges[0]?.over;
  });

  it('that is not there is unreachable, and may be retried', async () => {
    const adapter = createVllm(`http://127.0.0.1:${await closedPort()}/v1`);
    const failure = failureOf(await adapter.execute(chatSpec('m'), createRecordingSink(), never));
    assert.deepEqual(
      [failure.kind, failure.code, failure.retryable],
      ['unavailable', 'upstream.unreachable', true],
    );
    assert.match(failure.message, /is the server running/);
    await adapter.close();
  });
});

describe('vllm: an upstream that breaks', () => {
  it('in mid-stream: what came is passed on, and the run fails as cut', async (test) => {
    const { run } = await createLab(test, cutStream([chunk('hello'), chunk(' wor')]));
    const { sink, end } = await run();
    assert.equal(sink.text(), chunk('hello') + chunk(' wor'));
    assert.deepEqual([failureOf(end).code, failureOf(end).retryable], ['upstream.cut', true]);
  });

  it('in the middle of an event: that event is not passed on', async (test) => {
    const { run } = await createLab(test, cutStream([chunk('hello'), chunk(' wor').slice(0, 40)]));
    const { sink, end } = await run();
    assert.equal(sink.text(), chunk('hello'));
    assert.equal(failureOf(end).code, 'upstream.cut');
  });

  it('by ending properly without a finish reason: cut as well', async (test) => {
    for (const tail of ['', 'data: {"choi']) {
      const { run } = await createLab(test, answerStream([chunk('hello'), tail || ': x\n\n']));
      assert.equal(failureOf((await run()).end).code, 'upstream.cut');
    }
  });

  it('in the middle of a JSON body: fails without any content, so another Node may try', async (test) => {
    const play: Play = async ({ response, socket }) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"id":"x","choices":[');
      await sleep(20);
      socket.destroy();
    };
    const { run } = await createLab(test, play);
    const { sink, end } = await run({ stream: false });
    assert.equal(sink.events.length, 0);
    assert.deepEqual([failureOf(end).code, failureOf(end).retryable], ['upstream.cut', true]);
  });

  it('before it answers: closed, and may be retried', async (test) => {
    const { upstream, run } = await createLab(test, ({ socket }) => void socket.destroy());
    const failure = failureOf((await run()).end);
    assert.deepEqual([failure.code, failure.retryable], ['upstream.closed', true]);
    assert.equal(upstream.exchanges.length, 1, 'a fresh connection is no reason to send again');
  });

  it('with a line that is not JSON: malformed', async (test) => {
    const { run } = await createLab(
      test,
      answerStream([chunk('a'), 'data: {oops\n\n', chunk('', 'stop'), done]),
    );
    const { sink, end } = await run();
    assert.equal(sink.text(), chunk('a'));
    assert.equal(failureOf(end).code, 'upstream.malformed');
  });

  it('with an answer that is not JSON: malformed, without any content', async (test) => {
    for (const body of ['<html>hello</html>', '', '{"a":', 'data: {}\n\n']) {
      const { run } = await createLab(test, answerStatus(200, body));
      const { sink, end } = await run({ stream: false });
      assert.equal(failureOf(end).code, 'upstream.malformed', body);
      assert.equal(sink.events.length, 0);
    }
  });

  it('with JSON where a stream was asked for: malformed', async (test) => {
    const { run } = await createLab(test, answerStatus(200, completion('hi')));
    assert.equal(failureOf((await run()).end).code, 'upstream.malformed');
  });

  it('in a compression that nobody asked for: malformed', async (test) => {
    const { upstream, run } = await createLab(test, answerStatus(200, 'x', { 'content-encoding': 'gzip' }));
    for (const stream of [true, false]) {
      const failure = failureOf((await run({ stream })).end);
      assert.equal(failure.code, 'upstream.malformed');
      assert.match(failure.message, /in gzip/);
    }
    for (const exchange of upstream.exchanges) await exchange.over;
  });

  it('with an error in mid-stream: that error', async (test) => {
    const error = 'data: {"error":{"message":"KV cache is full","type":"x","code":500}}\n\n';
    const { upstream, run } = await createLab(test, answerStream([chunk('a'), error, chunk('never')], 5));
    const { sink, end } = await run();
    assert.equal(sink.text(), chunk('a'));
    assert.match(failureOf(end).message, /KV cache is full/);
    await upstream.exchanges[0]?.over;
    assert.equal(upstream.exchanges[0]?.gone, true);
  });

  it('with 256 MB without a blank line: fails within bounds, and is closed', async (test) => {
    let written = 0;
    const play: Play = async (exchange) => {
      openStream(exchange);
      const piece = Buffer.alloc(1024 * 1024, 'x');
      for (written = 0; written < 256 * 1024 * 1024 && !exchange.gone; written += piece.length) {
        if (exchange.response.write(piece)) continue;
        await Promise.race([
          new Promise((resolve) => exchange.response.once('drain', resolve)),
          exchange.over,
        ]);
      }
    };
    const { upstream, run } = await createLab(test, play);
    const { end } = await run();
    const failure = failureOf(end);
    assert.deepEqual([failure.code, failure.retryable], ['upstream.event-too-large', false]);
    await upstream.exchanges[0]?.over;
    assert.ok(written < 64 * 1024 * 1024, `${written} bytes were taken`);
  });

  it('by not speaking HTTP: malformed', async (test) => {
    const port = await httpByHand(test, (socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    const adapter = createVllm(`http://127.0.0.1:${port}/v1`);
    const failure = failureOf(await adapter.execute(chatSpec('m'), createRecordingSink(), never));
    assert.equal(failure.code, 'upstream.malformed');
    await adapter.close();
  });
});

describe('vllm: an upstream that is silent', () => {
  it('before the first byte: time-out, and may be retried', async (test) => {
    const { upstream, run } = await createLab(test, () => {}, { firstByteTimeoutMs: 150 });
    const failure = failureOf((await run()).end);
    assert.deepEqual(
      [failure.kind, failure.code, failure.retryable],
      ['timeout', 'upstream.first-byte-timeout', true],
    );
    await upstream.exchanges[0]?.over;
  });

  it('after its head: the time of the first byte still counts, not that between bytes', async (test) => {
    const play: Play = async (exchange) => {
      openStream(exchange);
      await sleep(400);
      exchange.response.end(chunk('', 'stop') + done);
    };
    const { run } = await createLab(test, play, { firstByteTimeoutMs: 10_000, idleTimeoutMs: 100 });
    assert.equal((await run()).end.kind, 'completed');
  });

  it('in mid-stream: stalled, and is closed', async (test) => {
    const play: Play = (exchange) => {
      openStream(exchange);
      exchange.response.write(chunk('a'));
    };
    const { upstream, run } = await createLab(test, play, { idleTimeoutMs: 150 });
    const { sink, end } = await run();
    assert.equal(sink.text(), chunk('a'));
    assert.deepEqual([failureOf(end).kind, failureOf(end).code], ['timeout', 'upstream.stalled']);
    await upstream.exchanges[0]?.over;
    assert.equal(upstream.exchanges[0]?.gone, true);
  });

  it('because we do not read it: that is not its silence', async (test) => {
    const { upstream } = await createLab(
      test,
      answerStream([chunk('a'.repeat(1000)), chunk('', 'stop'), done], 10),
    );
    const adapter = createVllm(upstream.baseUrl, { idleTimeoutMs: 150 });
    const sink = createRecordingSink(1);
    const end = adapter.execute(chatSpec('model'), sink, never);
    await sink.until(() => sink.refusals > 0);
    await sleep(500);
    sink.grant(Number.POSITIVE_INFINITY);
    assert.equal((await end).kind, 'completed');
    await adapter.close();
  });

  it('when a connection is made: a time-out of its own', async (test) => {
    if (process.platform !== 'linux') return test.skip('needs the accept queue of Linux');
    const port = await deafServer(test);
    const adapter = createVllm(`http://127.0.0.1:${port}/v1`, { connectTimeoutMs: 200 });
    const failure = failureOf(await adapter.execute(chatSpec('m'), createRecordingSink(), never));
    assert.deepEqual(
      [failure.kind, failure.code, failure.retryable],
      ['timeout', 'upstream.connect-timeout', true],
    );
    await adapter.close();
  });
});

describe('vllm: a connection that went stale', () => {
  it('is replaced, and the request is sent once more', async (test) => {
    let requests = 0;
    const port = await httpByHand(test, (socket, nth) => {
      requests++;
      // The second request on a connection finds it closed, as by a server that was about to.
      if (nth === 2) socket.destroy();
      else socket.write(httpAnswer(completion('hi')));
    });
    const adapter = createVllm(`http://127.0.0.1:${port}/v1`);
    for (const expected of [1, 3]) {
      const end = await adapter.execute(chatSpec('m', { stream: false }), createRecordingSink(), never);
      assert.equal(end.kind, 'completed', JSON.stringify(end));
      assert.equal(requests, expected);
    }
    await adapter.close();
  });

  it('is not tried a third time', async (test) => {
    let requests = 0;
    const port = await httpByHand(test, (socket) => {
      requests++;
      if (requests === 1) socket.write(httpAnswer(completion('hi')));
      else socket.destroy();
    });
    const adapter = createVllm(`http://127.0.0.1:${port}/v1`);
    await adapter.execute(chatSpec('m', { stream: false }), createRecordingSink(), never);
    const end = await adapter.execute(chatSpec('m', { stream: false }), createRecordingSink(), never);
    assert.equal(failureOf(end).code, 'upstream.closed');
    assert.equal(requests, 3);
    await adapter.close();
  });

  it('is not replaced once the answer has begun', async (test) => {
    let requests = 0;
    const port = await httpByHand(test, (socket, nth) => {
      requests++;
      if (nth === 1) socket.write(httpAnswer(completion('hi')));
      else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"id"');
    });
    const adapter = createVllm(`http://127.0.0.1:${port}/v1`);
    await adapter.execute(chatSpec('m', { stream: false }), createRecordingSink(), never);
    const end = await adapter.execute(chatSpec('m', { stream: false }), createRecordingSink(), never);
    assert.equal(failureOf(end).code, 'upstream.cut');
    assert.equal(requests, 2);
    await adapter.close();
  });
});

describe('vllm: where it may connect to', () => {
  it('is checked when the connection is made', async (test) => {
    const { upstream } = await createLab(test, answerStatus(200, completion('hi')));
    const adapter = createVllm(upstream.baseUrl.replace('127.0.0.1', '127.0.0.2'));
    const failure = failureOf(await adapter.execute(chatSpec('model'), createRecordingSink(), never));
    assert.deepEqual(
      [failure.kind, failure.code, failure.retryable],
      ['forbidden', 'upstream.host-forbidden', false],
    );
    assert.equal(upstream.exchanges.length, 0);
    await adapter.close();
  });

  it('may be a name that leads to this machine', async (test) => {
    const { upstream } = await createLab(test, answerStatus(200, completion('hi')));
    const adapter = createVllm(upstream.baseUrl.replace('127.0.0.1', 'localhost'));
    const end = await adapter.execute(chatSpec('model', { stream: false }), createRecordingSink(), never);
    assert.equal(end.kind, 'completed', JSON.stringify(end));
    await adapter.close();
  });
});

describe('vllm: a cancel', () => {
  it('while nothing is read closes the upstream as well', async (test) => {
    const play: Play = async (exchange) => {
      openStream(exchange);
      while (!exchange.gone) {
        exchange.response.write(chunk('x'.repeat(5_000)));
        await sleep(1);
      }
    };
    const { upstream, start } = await createLab(test, play);
    const { sink, stop, end } = start();
    await sink.until(() => sink.events.length > 2);
    const at = performance.now();
    stop.abort('caller');
    assert.deepEqual(await end, { kind: 'cancelled', by: 'caller' });
    await upstream.exchanges[0]?.over;
    assert.ok(performance.now() - at < 2_000);
  });

  it('of an answer that is not streamed closes the upstream', async (test) => {
    const { upstream, start } = await createLab(test, () => {});
    const { stop, end } = start({ stream: false });
    while (upstream.openExchanges() === 0) await sleep(5);
    stop.abort('operator');
    assert.deepEqual(await end, { kind: 'cancelled', by: 'operator' });
    await upstream.exchanges[0]?.over;
    assert.equal(upstream.exchanges[0]?.gone, true);
  });

  it('while the connection is being made leaves nothing behind', async (test) => {
    if (process.platform !== 'linux') return test.skip('needs the accept queue of Linux');
    const port = await deafServer(test);
    const adapter = createVllm(`http://127.0.0.1:${port}/v1`, { connectTimeoutMs: 60_000 });
    const stop = new AbortController();
    const end = adapter.execute(chatSpec('m'), createRecordingSink(), stop.signal);
    await sleep(50);
    stop.abort('deadline');
    assert.deepEqual(await end, { kind: 'cancelled', by: 'deadline' });
    await adapter.close();
  });
});

async function rawServer(test: TestContext, onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Counts the requests of each connection; they are small enough to come in one piece. */
function httpByHand(test: TestContext, onRequest: (socket: Socket, nth: number) => void): Promise<number> {
  return rawServer(test, (socket) => {
    let nth = 0;
    socket.on('data', (bytes) => {
      if (bytes.includes('POST ')) onRequest(socket, ++nth);
    });
  });
}

function httpAnswer(body: unknown): string {
  const text = JSON.stringify(body);
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Listens but takes no connection: its thread sleeps and its accept queue is full. */
async function deafServer(test: TestContext): Promise<number> {
  const code = `
    const { parentPort } = require('node:worker_threads');
    const server = require('node:net').createServer();
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 50);
    });`;
  const worker = new Worker(code, { eval: true });
  const [port] = (await once(worker, 'message')) as [number];
  await sleep(150);
  const fillers: Socket[] = [];
  test.after(async () => {
    for (const socket of fillers) socket.destroy();
    await worker.terminate();
  });
  for (let isFull = false; !isFull; ) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    fillers.push(socket);
    isFull = !(await Promise.race([once(socket, 'connect').then(() => true), sleep(300).then(() => false)]));
  }
  return port;
}
