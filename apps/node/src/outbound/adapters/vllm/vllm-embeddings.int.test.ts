import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerStatus, type Play } from '../../../testing/scripted-upstream.ts';
import { toBase64Vector } from '../http-upstream/embedding-body.ts';
import { createLab, failureOf } from './vllm-fixture.ts';

const vector = Array.from({ length: 1024 }, (_, i) => Math.fround(Math.sin(i)));
const floats = JSON.stringify(vector);
const base64 = JSON.stringify(toBase64Vector(vector));
const usage = { promptTokens: 9, completionTokens: 0, estimated: false };

function list(value: string, count: number, usageFirst = false): string {
  const data = Array.from(
    { length: count },
    (_, i) => `{"object":"embedding","index":${i},"embedding":${value}}`,
  );
  const tokens = '"usage":{"prompt_tokens":9,"total_tokens":9}';
  return usageFirst
    ? `{"object":"list",${tokens},"data":[${data.join(',')}],"model":"m"}`
    : `{"object":"list","data":[${data.join(',')}],"model":"m",${tokens}}`;
}

const ask = (encoding?: string) => ({
  dialect: 'openai.embeddings' as const,
  stream: false,
  body: Buffer.from(
    JSON.stringify({ model: 'x', input: [[1, 2]], dimensions: 8, encoding_format: encoding }),
  ),
});

describe('vllm: embeddings', () => {
  for (const count of [1, 100]) {
    it(`${count} in the shape that was asked for, whichever the upstream gives`, async (test) => {
      for (const [given, asked, wanted] of [
        [floats, 'base64', base64],
        [base64, 'float', floats],
        [base64, undefined, floats],
        [floats, undefined, floats],
        [base64, 'base64', base64],
      ] as const) {
        const { run } = await createLab(test, answerStatus(200, list(given, count)));
        const { sink, end } = await run(ask(asked));
        assert.equal(sink.text(), list(wanted, count));
        assert.deepEqual(end, { kind: 'completed', finish: 'stop', usage });
      }
    });
  }

  it('are asked for with the bytes of the caller: token arrays, dimensions, encoding', async (test) => {
    const { run, upstream } = await createLab(test, answerStatus(200, list(floats, 1)));
    const { body } = ask('base64');
    await run({ ...ask(), body });
    assert.equal(upstream.exchanges[0]?.body.toString(), body.toString().replace('"x"', '"model"'));
  });

  it('of 40 MB are passed on while they come, with their usage', async (test) => {
    const text = Buffer.from(list(floats, 2048, true));
    const gate = Promise.withResolvers<void>();
    const play: Play = async ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
      response.write(text.subarray(0, 1024 * 1024));
      await gate.promise;
      response.end(text.subarray(1024 * 1024));
    };
    const { start } = await createLab(test, play);
    const { sink, end } = start(ask('float'));
    await sink.until(({ sizeBytes }) => sizeBytes >= 512 * 1024);
    gate.resolve();
    assert.deepEqual(await end, { kind: 'completed', finish: 'stop', usage });
    assert.ok(Buffer.from(sink.bytes()).equals(text));
    assert.ok(sink.events.every((event) => event.kind === 'raw' && event.bytes.length <= 64 * 1024));
  });

  it('that are cut are not completed, and leave nothing behind while they are few', async (test) => {
    for (const count of [1, 100]) {
      const text = list(floats, count);
      const play: Play = ({ response, socket }) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
        response.write(text.slice(0, -10), () => setTimeout(() => socket.destroy(), 20));
      };
      const { run } = await createLab(test, play);
      for (const encoding of ['float', 'base64']) {
        const { sink, end } = await run(ask(encoding));
        assert.equal(failureOf(end).code, 'upstream.cut');
        assert.equal(sink.events.length > 0, count > 1);
      }
    }
  });

  it('that end with their connection count as cut when they are too many to hold', async (test) => {
    const text = list(floats, 100).slice(0, -60);
    const play: Play = ({ socket }) => {
      socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n${text}}`);
    };
    const { run } = await createLab(test, play);
    assert.equal(failureOf((await run(ask())).end).code, 'upstream.cut');
  });

  it('that cannot be converted fail', async (test) => {
    for (const count of [1, 100]) {
      const { run } = await createLab(test, answerStatus(200, list('[1,"a"]', count * 300)));
      assert.equal(failureOf((await run(ask('base64'))).end).code, 'upstream.malformed');
    }
  });
});
