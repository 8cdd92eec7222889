import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRecordingSink } from '@iop/runtime/testing';
import {
  answerStatus,
  answerStream,
  chunk,
  completion,
  cutStream,
  done,
  type Play,
  usageChunk,
} from '../../../testing/scripted-upstream.ts';
import { chatSpec } from '../../../testing/specs.ts';
import { createLab, failureOf } from './vllm-fixture.ts';

const forced = (value: boolean) => ({ forceStream: new Map([['model', value]]) });
const usage = { promptTokens: 3, completionTokens: 2, estimated: false };
const stream = answerStream([chunk('hel'), chunk('lo'), chunk('', 'stop'), usageChunk, done]);
const whole = answerStatus(200, completion('hello'));

describe('vllm: force_stream true', () => {
  it('asks for a stream and gives one JSON answer to a caller that wants no stream', async (test) => {
    const { run, upstream } = await createLab(test, stream, forced(true));
    const body = Buffer.from('{"model":"x","stream":false,"messages":[]}');
    const { sink, end } = await run({ stream: false, body });
    assert.equal(
      upstream.exchanges[0]?.body.toString(),
      '{"stream_options":{"include_usage":true},"model":"model","stream":true,"messages":[]}',
    );
    assert.deepEqual(JSON.parse(sink.text()), completion('hello'));
    assert.deepEqual(end, { kind: 'completed', finish: 'stop', usage });
  });

  it('leaves a caller that wants a stream as it is', async (test) => {
    const { run, upstream } = await createLab(test, stream, forced(true));
    const { sink } = await run();
    assert.equal(sink.text(), chunk('hel') + chunk('lo') + chunk('', 'stop'));
    assert.equal(upstream.exchanges[0]?.json.stream, true);
  });

  it('gives nothing of a stream that was cut, broke or reported an error', async (test) => {
    const error = 'data: {"error":{"message":"no memory","code":500}}\n\n';
    const plays: Play[] = [
      cutStream([chunk('hel')]),
      answerStream([chunk('hel')]),
      answerStream([chunk('hel'), error]),
      answerStream([chunk('hel'), 'data: {"choi\n\n']),
      whole,
    ];
    for (const play of plays) {
      const { run } = await createLab(test, play, forced(true));
      const { sink, end } = await run({ stream: false });
      assert.equal(failureOf(end).retryable, true);
      assert.equal(sink.events.length, 0);
    }
  });

  it('puts a large answer together and pauses for its reader', async (test) => {
    const large = Array.from({ length: 100 }, () => chunk('x'.repeat(5_000)));
    const { adapter } = await createLab(
      test,
      answerStream([...large, chunk('', 'stop'), done]),
      forced(true),
    );
    const sink = createRecordingSink(64 * 1024);
    const ending = adapter.execute(chatSpec('model', { stream: false }), sink, new AbortController().signal);
    await sink.until(({ refusals }) => refusals > 0);
    assert.ok(sink.sizeBytes <= 2 * 64 * 1024);
    sink.grant(10_000_000);
    assert.equal((await ending).kind, 'completed');
    assert.equal(JSON.parse(sink.text()).choices[0].message.content.length, 500_000);
  });

  it('is closed at once by a cancel, and says nothing more', async (test) => {
    const play = answerStream([chunk('a'), ...Array.from({ length: 500 }, () => chunk('b'))], 10);
    const { start, upstream } = await createLab(test, play, forced(true));
    const { stop, end, sink } = start({ stream: false });
    while (upstream.exchanges.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort('caller');
    assert.deepEqual(await end, { kind: 'cancelled', by: 'caller' });
    await upstream.exchanges[0]?.over;
    assert.deepEqual([sink.events.length, sink.late.length], [0, 0]);
  });

  it('does not touch embeddings and raw requests', async (test) => {
    const { run, upstream } = await createLab(test, answerStatus(200, { data: [] }), forced(true));
    await run({ stream: false, dialect: 'openai.embeddings' });
    await run({ stream: false, dialect: 'openai.raw', raw: { path: 'rerank', contentType: '' } });
    assert.deepEqual(
      upstream.exchanges.map(({ json }) => json.stream),
      [false, false],
    );
  });
});

describe('vllm: force_stream false', () => {
  it('asks for a whole answer and gives chunks to a caller that wants a stream', async (test) => {
    const { run, upstream } = await createLab(test, whole, forced(false));
    const body = Buffer.from(
      '{"model":"x","stream":true,"stream_options":{"include_usage":true},"messages":[]}',
    );
    const { sink, end } = await run({ body, includeUsage: true });
    assert.equal(
      upstream.exchanges[0]?.body.toString(),
      '{"model":"model","stream":false,"stream_options":null,"messages":[]}',
    );
    const chunks = sink.events.map((event) =>
      event.kind === 'raw' ? JSON.parse(Buffer.from(event.bytes).toString().slice(6)) : event,
    );
    assert.deepEqual(
      chunks.map(({ choices }) => choices[0]?.delta ?? 'usage'),
      [{ role: 'assistant', content: '' }, { content: 'hello' }, {}, 'usage'],
    );
    assert.ok(chunks.every(({ object, id }) => object === 'chat.completion.chunk' && id === 'chatcmpl-1'));
    assert.equal(chunks[2].choices[0].finish_reason, 'stop');
    assert.equal(chunks[3].usage.total_tokens, 5);
    assert.deepEqual(end, { kind: 'completed', finish: 'stop', usage });
    const unasked = await run({ body });
    assert.ok(!unasked.sink.text().includes('usage'));
  });

  it('fails without content when the answer is cut, no JSON or an error', async (test) => {
    const cut: Play = ({ response, socket }) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 500 });
      response.write('{"choices":[{"index":0,', () => setTimeout(() => socket.destroy(), 20));
    };
    const error = answerStatus(200, { error: { message: 'no memory', code: 500 } });
    for (const play of [cut, answerStatus(200, '{"a":'), error, answerStatus(503, {})]) {
      const { run } = await createLab(test, play, forced(false));
      const { sink, end } = await run();
      assert.equal(failureOf(end).retryable, true);
      assert.equal(sink.events.length, 0);
    }
  });

  it('gives a plain prompt its text', async (test) => {
    const { run } = await createLab(test, whole, forced(false));
    const { sink } = await run({ dialect: 'iop.prompt', body: Buffer.from('hi') });
    assert.deepEqual(sink.events, [{ kind: 'text', text: 'hello' }]);
  });

  it('holds for its target only', async (test) => {
    const { run, upstream } = await createLab(test, stream, { forceStream: new Map([['other', false]]) });
    assert.equal((await run()).end.kind, 'completed');
    assert.equal(upstream.exchanges[0]?.json.stream, true);
  });
});
