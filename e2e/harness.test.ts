// The tools of the stories, tried on their own: a story is worth no more than what it is told with.
import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer } from 'node:net';
import { test } from 'node:test';
import { startChaosProxy } from './harness/chaos-proxy.ts';
import { readStream } from './harness/chat.ts';
import { within } from './harness/eventually.ts';
import { call } from './harness/http.ts';
import { livingPids, startProgram } from './harness/program.ts';
import { startUpstream } from './harness/upstream.ts';

const limit = { timeout: 60_000 };
const ask = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] });

test('the scripted upstream streams at a pace and ends with [DONE]', limit, async () => {
  const upstream = await startUpstream();
  try {
    upstream.act({ kind: 'stream', chunks: ['a', 'b', 'c'], paceMs: 5 });
    const answer = await call({ url: `${upstream.baseUrl}/chat/completions`, body: ask }).answer;
    const reading = readStream(answer.text);
    assert.equal(reading.content, 'abc');
    assert.equal(reading.done, true);
    assert.equal(upstream.requests[0]?.finished, true);
  } finally {
    await upstream.close();
  }
});

test('the scripted upstream says when the other side hung up', limit, async () => {
  const upstream = await startUpstream();
  try {
    for (const act of [{ kind: 'hang' }, { kind: 'stream', chunks: ['a'], end: 'hang' }] as const) {
      upstream.forget();
      upstream.act(act);
      const asking = call({ url: `${upstream.baseUrl}/chat/completions`, body: ask });
      const seen = await upstream.arrival(0);
      const hungUpAt = asking.hangUp();
      assert.ok((await upstream.closed(seen)) - hungUpAt < 100);
      assert.equal(seen.finished, false);
    }
  } finally {
    await upstream.close();
  }
});

test('a cut stream of the scripted upstream is a broken HTTP answer', limit, async () => {
  const upstream = await startUpstream();
  try {
    for (const end of ['cut', 'reset'] as const) {
      upstream.act({ kind: 'stream', chunks: ['a', 'b'], end });
      await assert.rejects(call({ url: `${upstream.baseUrl}/chat/completions`, body: ask }).answer);
    }
  } finally {
    await upstream.close();
  }
});

test('the chaos proxy cuts after exactly so many bytes and then passes again', limit, async () => {
  const target = createServer((socket) => socket.pipe(socket).on('error', () => {}));
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  const proxy = await startChaosProxy((target.address() as AddressInfo).port);
  try {
    for (const bytes of [0, 1, 7, 10]) {
      const cut = proxy.cutAfter('down', bytes);
      assert.equal(await echoed(proxy.port, '0123456789abcdef'), '0123456789abcdef'.slice(0, bytes));
      await within('the cut is told', 1_000, cut);
    }
    assert.equal(await echoed(proxy.port, 'whole'), 'whole');
  } finally {
    await proxy.close();
    target.close();
  }
});

/** What comes back until the connection closes, or until all of it came. */
function echoed(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let got = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (piece) => {
      got += piece;
      if (got === text) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(got));
  });
}

test('a program is found among the living until it was killed', limit, async () => {
  const program = startProgram({ name: 'sleeper', command: ['/bin/sleep', '60'] });
  assert.deepEqual(livingPids(), [program.pid]);
  assert.equal((await program.kill()).signal, 'SIGKILL');
  assert.deepEqual(livingPids(), []);
});
