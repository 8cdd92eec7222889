import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import type { RunEnd } from '@iop/domain';
import { createRecordingSink } from '@iop/runtime/testing';
import { answerStatus, type Play } from '../../../testing/scripted-upstream.ts';
import { chatSpec } from '../../../testing/specs.ts';
import { createLab, createVllm, failureOf } from './vllm-fixture.ts';

const raw = (path: string, body: string | Buffer, contentType = 'application/json') => ({
  dialect: 'openai.raw' as const,
  stream: false,
  body: Buffer.from(body),
  raw: { path, contentType },
});
const never = new AbortController().signal;

describe('vllm: a raw request', () => {
  it('goes to its path with its type, and only its model is changed', async (test) => {
    const { upstream, run } = await createLab(test, answerStatus(200, { results: [] }));
    const type = 'application/json; charset=utf-8';
    await run(raw('rerank', '{"query":"a" , "model":"public", "top_n":1e0}', type));
    const [seen] = upstream.exchanges;
    assert.equal(seen?.path, '/v1/rerank');
    assert.equal(seen?.headers['content-type'], type);
    assert.equal(seen?.body.toString(), '{"query":"a" , "model":"model", "top_n":1e0}');
  });

  it('goes to the root of the server for tokenize', async (test) => {
    const { upstream, run } = await createLab(test, answerStatus(200, { tokens: [1] }));
    await run(raw('tokenize', '{"model":"public","prompt":"a"}'));
    assert.equal(upstream.exchanges[0]?.path, '/tokenize');
  });

  it('may be a form', async (test) => {
    const { upstream, run } = await createLab(test, answerStatus(200, { text: 'hello' }));
    const form = (model: string) =>
      `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--b--\r\n`;
    const { end } = await run(raw('audio/transcriptions', form('x'), 'multipart/form-data; boundary=b'));
    assert.equal(end.kind, 'completed');
    assert.equal(upstream.exchanges[0]?.body.toString(), form('model'));
    assert.equal(upstream.exchanges[0]?.headers['content-type'], 'multipart/form-data; boundary=b');
  });

  for (const [what, spec] of [
    ['a path that leaves the server', raw('../metrics', '{}')],
    ['a path with a query', raw('rerank?x=1', '{}')],
    ['a body that is no JSON', raw('rerank', '{')],
    ['a broken form', raw('audio/x', 'x', 'multipart/form-data; boundary=b')],
    ['a type without a place for the model', raw('audio/x', 'x', 'application/octet-stream')],
    ['a type that would be two headers', raw('rerank', '{}', 'application/json\r\nx-evil: 1')],
    ['no path at all', { ...raw('', '{}'), raw: undefined }],
  ] as const) {
    it(`F22: ${what} never leaves the Node`, async (test) => {
      const { upstream, run } = await createLab(test, answerStatus(200, {}));
      const { end } = await run(spec as ReturnType<typeof raw>);
      assert.equal(failureOf(end).kind, 'invalid');
      assert.match(failureOf(end).code, /^request\.raw-/);
      assert.equal(upstream.exchanges.length, 0);
    });
  }
});

describe('vllm: the answer to a raw request', () => {
  it('is its type and then its bytes, JSON of any shape', async (test) => {
    for (const text of ['[{"index":0,"score":0.50}]', '{"a":1}', '"x"']) {
      const { run } = await createLab(test, answerStatus(200, text));
      const { sink, end } = await run(raw('rerank', '{}'));
      assert.deepEqual(sink.events[0], { kind: 'head', contentType: 'application/json' });
      assert.equal(sink.text(), text);
      assert.deepEqual(end, { kind: 'completed', finish: 'stop' });
    }
  });

  it('tells the usage that it holds', async (test) => {
    for (const usage of [{ prompt_tokens: 7 }, { input_tokens: 7, output_tokens: 0 }]) {
      const { run } = await createLab(test, answerStatus(200, { usage }));
      const { end } = await run(raw('rerank', '{}'));
      assert.deepEqual(end.usage, { promptTokens: 7, completionTokens: 0, estimated: false });
    }
  });

  it('may be audio, passed on while it comes', async (test) => {
    const audio = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7) % 256));
    const gate = Promise.withResolvers<void>();
    const play: Play = async ({ response }) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.write(audio.subarray(0, 1000));
      await gate.promise;
      response.end(audio.subarray(1000));
    };
    const { start } = await createLab(test, play);
    const { sink, end } = start(raw('audio/speech', '{}'));
    await sink.until(({ sizeBytes }) => sizeBytes >= 1000);
    gate.resolve();
    assert.equal((await end).kind, 'completed');
    assert.deepEqual(sink.events[0], { kind: 'head', contentType: 'audio/mpeg' });
    assert.ok(Buffer.from(sink.bytes()).equals(audio));
  });

  it('may be events, an empty body, or without a type', async (test) => {
    const events = 'event: response.created\ndata: {}\n\ndata: [DONE]\n\n';
    const cases: [Record<string, string>, string, string][] = [
      [{ 'content-type': 'text/event-stream' }, events, 'text/event-stream'],
      [{ 'content-type': 'text/plain' }, '', 'text/plain'],
      [{}, 'x', 'application/octet-stream'],
    ];
    for (const [headers, body, contentType] of cases) {
      const { run } = await createLab(
        test,
        ({ response }) => void response.writeHead(200, headers).end(body),
      );
      const { sink, end } = await run(raw('responses', '{"stream":true}'));
      assert.deepEqual([end.kind, sink.text()], ['completed', body]);
      assert.deepEqual(sink.events[0], { kind: 'head', contentType });
    }
  });

  it('with another status is a failure with what the upstream said', async (test) => {
    const { run } = await createLab(test, answerStatus(404, { detail: 'Not Found' }));
    const { sink, end } = await run(raw('rerank', '{}'));
    assert.equal(failureOf(end).upstream?.status, 404);
    assert.equal(sink.events.length, 0);
  });

  it('with an error in a 200, or JSON that is none, fails without a head', async (test) => {
    for (const body of [{ error: { message: 'no', code: 500 } }, '{"a":']) {
      const { run } = await createLab(test, answerStatus(200, body));
      const { sink, end } = await run(raw('rerank', '{}'));
      assert.equal(end.kind, 'failed');
      assert.equal(sink.events.length, 0);
    }
  });
});

describe('vllm: a raw answer that was cut is not completed (A5)', () => {
  const heads: [string, string][] = [
    ['short of its length', 'content-length: 100\r\n\r\nabc'],
    ['short of its last chunk', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'],
    ['with no word on where it ends', 'connection: close\r\n\r\nabc'],
  ];
  for (const [what, tail] of heads) {
    it(what, async (test) => {
      const end = await answerWith(test, `HTTP/1.1 200 OK\r\ncontent-type: audio/wav\r\n${tail}`);
      assert.deepEqual([failureOf(end).code, failureOf(end).retryable], ['upstream.cut', true]);
    });
  }
});

async function answerWith(test: { after(fn: () => unknown): void }, bytes: string): Promise<RunEnd> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.after(() => server.close());
  const adapter = createVllm(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
  test.after(() => adapter.close());
  return adapter.execute(chatSpec('model', raw('audio/speech', '{}')), createRecordingSink(), never);
}
