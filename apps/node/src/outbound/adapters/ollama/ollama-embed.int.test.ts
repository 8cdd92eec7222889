import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RuntimeEvent } from '@iop/runtime';
import { answerVectors } from '../../../testing/fake-ollama.ts';
import { answerStatus, type Play } from '../../../testing/scripted-upstream.ts';
import { createLab, failureOf } from './ollama-fixture.ts';

const specOf = (request: Record<string, unknown>) => ({
  dialect: 'openai.embeddings' as const,
  stream: false,
  body: Buffer.from(JSON.stringify({ model: 'public', input: ['a', 'b'], ...request })),
});

async function embed(test: TestContext, play: Play, request: Record<string, unknown> = {}) {
  const lab = await createLab(test, play);
  return { ...(await lab.run(specOf(request))), ...lab };
}

function bytesOf(events: readonly RuntimeEvent[]): Buffer {
  return Buffer.concat(events.flatMap((event) => (event.kind === 'raw' ? [event.bytes] : [])));
}

const vectors = [
  [0.5, -1e-7],
  [1, 2],
];

/** Answers with `text` in writes of `size` bytes. */
function answerInPieces(text: string, size: number): Play {
  return async ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    for (let at = 0; at < text.length; at += size) {
      response.write(text.slice(at, at + size));
      if (at < 20 * size) await sleep(1);
    }
    response.end();
  };
}

describe('ollama: embeddings', () => {
  it('become OpenAI’s list, under the name that was asked for', async (test) => {
    const { events, end, ollama, adapter } = await embed(test, answerVectors(vectors));
    assert.ok(events.every((event) => event.kind === 'raw' && event.dialect === 'openai.embeddings'));
    assert.deepEqual(JSON.parse(bytesOf(events).toString()), {
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [0.5, -1e-7] },
        { object: 'embedding', index: 1, embedding: [1, 2] },
      ],
      model: 'public',
      usage: { prompt_tokens: 7, total_tokens: 7 },
    });
    const usage = { promptTokens: 7, completionTokens: 0, estimated: false };
    assert.deepEqual(end, { kind: 'completed', finish: 'stop', usage });
    assert.deepEqual([ollama.runs[0]?.path, ollama.runs[0]?.json.truncate], ['/api/embed', false]);
    const { targets } = await adapter.capabilities(new AbortController().signal);
    const shown = targets[0]?.facts?.find(({ name }) => name === 'embeddings');
    assert.deepEqual(shown, { name: 'embeddings', holds: true, source: 'measured' });
  });

  it('are found among other numbers', async (test) => {
    const { events } = await embed(test, answerVectors(vectors, { more: [3], most: [[4, 'x']] }), {
      dimensions: 2,
    });
    assert.equal(JSON.parse(bytesOf(events).toString()).data.length, 2);
  });

  it('in base64 are little-endian floats', async (test) => {
    const { events } = await embed(test, answerVectors(vectors), { encoding_format: 'base64' });
    const { data } = JSON.parse(bytesOf(events).toString());
    const bytes = Buffer.from(data[1].embedding, 'base64');
    assert.deepEqual([bytes.length, bytes.readFloatLE(0), bytes.readFloatLE(4)], [8, 1, 2]);
  });

  it('of more than a frame come in pieces, at the pace of their reader', async (test) => {
    const many = Array.from({ length: 200 }, (_, i) => Array.from({ length: 300 }, (_, k) => (i - k) / 7));
    const input = many.map((_, i) => `text ${i}`);
    const text = JSON.stringify({ model: 'fake', embeddings: many, prompt_eval_count: 9 });
    const { start } = await createLab(test, answerInPieces(text, 1000));
    const { sink, end } = start(specOf({ input }), 100_000);
    await sink.until(() => sink.refusals > 0);
    await sleep(50);
    assert.deepEqual([sink.events.length, sink.refusals], [2, 1]);
    sink.grant(Number.POSITIVE_INFINITY);
    assert.equal((await end).kind, 'completed');
    const pieces = sink.events.map((event) => (event.kind === 'raw' ? event.bytes.length : 0));
    assert.ok(pieces.length > 10 && Math.max(...pieces) === 64 * 1024);
    const { data } = JSON.parse(bytesOf(sink.events).toString());
    assert.deepEqual(
      data.map(({ embedding }: { embedding: number[] }) => embedding),
      many,
    );
  });

  it('whose count Ollama leaves out are estimated, and say so', async (test) => {
    const { events, end } = await embed(test, answerVectors(vectors, { prompt_eval_count: undefined }));
    assert.deepEqual(end.usage, { promptTokens: 1, completionTokens: 0, estimated: true });
    assert.equal(JSON.parse(bytesOf(events).toString()).usage.estimated, true);
  });

  it('of other dimensions than were asked for are a failure that says so', async (test) => {
    const { events, end } = await embed(test, answerVectors(vectors), { dimensions: 1 });
    assert.deepEqual([events, failureOf(end).code], [[], 'upstream.dimensions']);
    assert.match(failureOf(end).message, /vectors of 2 numbers where 1 were asked for/);
  });
});

describe('ollama: embeddings that break leave nothing behind (O12)', () => {
  const whole = JSON.stringify({ model: 'fake', embeddings: vectors, prompt_eval_count: 7 });
  for (const [how, play, code] of [
    ['cut in a vector, ended properly', answerInPieces(whole.slice(0, 40), 10), 'upstream.malformed'],
    ['cut after the vectors', answerInPieces(whole.slice(0, -5), 10), 'upstream.malformed'],
    ['one vector too few', answerVectors([[1, 2]]), 'upstream.malformed'],
    ['a vector in a vector', answerVectors([[[1, 2]], [3]]), 'upstream.malformed'],
    ['a vector of no numbers', answerVectors([[], [1]]), 'upstream.malformed'],
    ['numbers that are none', answerInPieces(whole.replace('0.5', '0.5,null'), 10), 'upstream.malformed'],
    ['an error with status 200', answerStatus(200, { error: 'no room left' }), 'upstream.error'],
    [
      'a text that is too long',
      answerStatus(400, { error: 'the input length exceeds the context length' }),
      'upstream.context-length',
    ],
  ] as const) {
    it(how, async (test) => {
      const { events, end } = await embed(test, play);
      assert.deepEqual([events, failureOf(end).code], [[], code]);
    });
  }

  it('closed in the middle', async (test) => {
    const play: Play = async ({ response, socket }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(whole.slice(0, 40));
      await sleep(20);
      socket.destroy();
    };
    const { events, end } = await embed(test, play);
    assert.deepEqual([events, failureOf(end).code], [[], 'upstream.cut']);
  });
});
