import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, createHttpClock, hello, openHttpLab } from '../../testing/http-lab.ts';
import { connectRaw, rawRequest } from '../../testing/raw-client.ts';
import { withoutIds } from '../../testing/sse-text.ts';

const ask = { ...hello, stream: true };
const streamed = rawRequest({ headers: bearer, body: JSON.stringify(ask) });

function delta(content: string): string {
  return `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`;
}

test('raw events reach the caller untouched, and [DONE] follows on completion', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.dispatch('gpu-2');
    run.raw(delta('a') + delta('b'));
    run.raw(delta('c'));
    run.complete();
  };
  const response = await lab.chat(ask);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.equal(response.headers.get('x-accel-buffering'), 'no');
  assert.equal(response.headers.get('x-iop-run'), lab.edge.runs[0]?.id);
  assert.equal(response.headers.get('x-iop-node'), 'gpu-2');
  assert.equal(withoutIds(await response.text()), `${delta('a')}${delta('b')}${delta('c')}data: [DONE]\n\n`);
});

test('the head waits for the first content, so that a failure before it has a status', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.dispatch();
    run.emit({ kind: 'progress', message: 'loading' });
    run.fail({
      kind: 'timeout',
      code: 'upstream.stalled',
      message: 'The upstream said nothing.',
      retryable: true,
    });
  };
  const response = await lab.chat(ask);
  assert.equal(response.status, 504);
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('x-should-retry'), null);
});

test('a failure after content is one error event, then the stream ends without [DONE]', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.raw(delta('a'));
    run.fail();
  };
  const response = await lab.chat(ask);
  assert.equal(response.status, 200);
  const error = { message: 'The Node gpu-1 was lost.', type: 'server_error', param: null, code: 'node.lost' };
  assert.equal(withoutIds(await response.text()), `${delta('a')}data: ${JSON.stringify({ error })}\n\n`);
});

test('a run that somebody else cancelled says who, and is not done', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.raw(delta('a'));
    run.end({ kind: 'cancelled', by: 'operator' });
  };
  const text = await (await lab.chat(ask)).text();
  assert.match(text, /"code":"run.cancelled-by-operator"/);
  assert.doesNotMatch(text, /\[DONE\]/);
});

test('without content the head is sent in time, and silence is broken by comments between events', async () => {
  const clock = createHttpClock();
  await using lab = await openHttpLab({ clock });
  const client = await connectRaw(lab.port);
  client.send(streamed);
  const run = await lab.edge.run(0);
  clock.advance(9_999);
  assert.equal(client.received(), '');
  clock.advance(1);
  await client.until(/200 OK[\s\S]*text\/event-stream[\s\S]*: keep-alive\n\n/);
  run.raw(delta('a').slice(0, 20), true);
  run.raw(delta('a').slice(20, 40), true);
  clock.advance(15_000);
  await client.until(/(: keep-alive\n\n[\s\S]*){2}/);
  assert.doesNotMatch(client.received(), /data/);
  run.raw(delta('a').slice(40));
  await client.until(/"content":"a"\}\}\]\}\n\n/);
  run.fail({ code: 'upstream.cut', message: 'gone' });
  assert.match(await client.until(/upstream\.cut/), /^HTTP\/1\.1 200/);
  client.destroy();
});

test('a heartbeat only breaks real silence', async () => {
  const clock = createHttpClock();
  await using lab = await openHttpLab({ clock });
  const client = await connectRaw(lab.port);
  client.send(streamed);
  const run = await lab.edge.run(0);
  for (let seconds = 0; seconds < 60; seconds++) {
    run.raw(delta(`${seconds}`));
    await client.until(new RegExp(`"content":"${seconds}"`));
    clock.advance(1000);
  }
  assert.doesNotMatch(client.received(), /: keep-alive\n/);
  clock.advance(13_999);
  run.complete();
  assert.doesNotMatch(await client.until(/\[DONE\]/), /: keep-alive\n/);
  assert.equal(clock.pending, 0);
  client.destroy();
});

test('an event in pieces is shown whole or not at all', async () => {
  await using lab = await openHttpLab();
  const long = delta('z'.repeat(300_000));
  lab.edge.script = (run) => {
    for (let at = 0; at < long.length; at += 65_536)
      run.raw(long.slice(at, at + 65_536), at + 65_536 < long.length);
    run.raw('data: {"cut', true);
    run.fail({ code: 'upstream.cut' });
  };
  const text = await (await lab.chat(ask)).text();
  assert.ok(withoutIds(text).startsWith(`${long}data: {"error"`));
  assert.ok(!text.includes('{"cut'));
});

test('a run that completes in the middle of an event has failed', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.raw(delta('a'));
    run.raw('data: {"half', true);
    run.complete();
  };
  const text = await (await lab.chat(ask)).text();
  assert.match(text, /"code":"answer.unreadable"/);
  assert.doesNotMatch(text, /\[DONE\]|half/);
});

test('pieces beyond 4 MiB are given up: the run is cancelled and the caller told', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    for (let i = 0; i < 70; i++) run.raw('q'.repeat(65_536), true);
  };
  const response = await lab.chat(ask);
  assert.equal(response.status, 502);
  assert.match(await response.text(), /upstream\.event-too-large/);
  assert.deepEqual(lab.edge.runs[0]?.cancels, ['caller']);
});

test('raw events of another dialect are not passed off as chat', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'raw', dialect: 'openai.completions', bytes: Buffer.from('data: x\n\n'), more: false });
  };
  const response = await lab.chat(ask);
  assert.equal(response.status, 500);
  assert.deepEqual(lab.edge.runs[0]?.cancels, ['caller']);
});

test('what comes in one tick leaves in one chunk', async () => {
  await using lab = await openHttpLab();
  const client = await connectRaw(lab.port);
  client.send(streamed);
  const run = await lab.edge.run(0);
  for (const letter of 'abcdef') run.raw(delta(letter));
  run.complete();
  const text = await client.until(/0\r\n\r\n$/);
  const sizes = [...text.matchAll(/\r\n([0-9a-f]+)\r\nid: /g)];
  assert.equal(sizes.length, 1);
  client.destroy();
});

test('a caller that never reads gets no more than the window, and nothing more is asked for', async () => {
  await using lab = await openHttpLab({ times: { firstByteMs: 20, heartbeatMs: 10 } });
  const client = await connectRaw(lab.port);
  client.socket.pause();
  client.send(streamed);
  const run = await lab.edge.run(0);
  const event = delta('w'.repeat(8000));
  // Keeps to the window as a Node does: 256 KiB plus what was given back.
  let sentBytes = 0;
  let stuck = 0;
  while (stuck < 20 && sentBytes < 64 * 1024 * 1024) {
    const hasRoom = sentBytes < run.consumedBytes + 256 * 1024;
    stuck = hasRoom ? 0 : stuck + 1;
    if (hasRoom) {
      run.raw(event);
      sentBytes += event.length;
    } else await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.equal(stuck, 20, 'the window closed');
  const consumedBytes = run.consumedBytes;
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(run.consumedBytes, consumedBytes);
  client.socket.resume();
  while (run.consumedBytes < sentBytes) await new Promise((resolve) => setTimeout(resolve, 5));
  run.complete();
  await client.until(/\[DONE\]/);
  client.destroy();
});

test('an ended answer that nobody reads loses its connection', async () => {
  await using lab = await openHttpLab({ times: { unreadMs: 50 } });
  const client = await connectRaw(lab.port);
  client.socket.pause();
  client.send(streamed);
  const run = await lab.edge.run(0);
  for (let i = 0; i < 4000; i++) run.raw(delta('u'.repeat(8000)));
  run.complete();
  await new Promise((resolve) => setTimeout(resolve, 200));
  client.socket.resume();
  assert.doesNotMatch(await client.ended(), /\[DONE\]/);
});

test('text, reasoning and parallel tool calls become chunks with one id, a role first and a finish', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'reasoning', text: 'hm' }, { kind: 'text', text: 'I "look"\n' });
    run.emit({ kind: 'tool-call', index: 0, id: 'call_a', name: 'weather', argumentsJson: '{"city":' });
    run.emit({ kind: 'tool-call', index: 1, id: '', name: 'time', argumentsJson: '{}' });
    run.emit({ kind: 'tool-call', index: 0, id: 'call_a', name: 'weather', argumentsJson: '"Oslo"}' });
    run.emit({ kind: 'usage', usage: { promptTokens: 3, completionTokens: 4, estimated: false } });
    run.complete();
  };
  const text = await (await lab.chat({ ...ask, stream_options: { include_usage: true } })).text();
  const events = withoutIds(text).trimEnd().split('\n\n');
  assert.equal(events.pop(), 'data: [DONE]');
  const chunks = events.map((event) => JSON.parse(event.slice('data: '.length)));
  assert.equal(new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`)).size, 1);
  assert.equal(chunks[0].model, 'qwen');
  assert.deepEqual(
    chunks.map(({ choices }) => choices[0]?.delta),
    [
      { role: 'assistant', content: '' },
      { reasoning_content: 'hm' },
      { content: 'I "look"\n' },
      {
        tool_calls: [
          { index: 0, id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city":' } },
        ],
      },
      {
        tool_calls: [
          {
            index: 1,
            id: chunks[4].choices[0].delta.tool_calls[0].id,
            type: 'function',
            function: { name: 'time', arguments: '{}' },
          },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] },
      {},
      undefined,
    ],
  );
  assert.equal(chunks[6].choices[0].finish_reason, 'tool_calls');
  assert.deepEqual(chunks[7].usage, { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 });
  assert.ok(chunks.slice(0, 7).every(({ usage }) => usage === null));
});

test('a stream of nothing still has a role, a finish and an end', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => run.complete({ finish: 'length' });
  const text = await (await lab.chat(ask)).text();
  assert.match(text, /"role":"assistant"[\s\S]*"finish_reason":"length"[\s\S]*\[DONE\]\n\n$/);
});

test('work that a chat cannot show opens the stream all the same', async () => {
  await using lab = await openHttpLab();
  const answer = lab.chat(ask);
  const run = await lab.edge.run(0);
  run.emit({ kind: 'tool-activity', id: 't', title: 'ls', status: 'running', detailJson: '{}' });
  assert.equal((await answer).status, 200);
  run.complete();
  await (await answer).text();
});
