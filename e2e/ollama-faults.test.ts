// What an Ollama refuses, breaks or shortens, as the caller of the OpenAI door sees it. The Ollama is a fake.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type OpenAI from 'openai';
import { APIError, BadRequestError } from 'openai';
import { eventually } from './harness/eventually.ts';
import { beginLines, type FakeOllama, says, send, sendLines, writeLine } from './harness/ollama.ts';
import { type OllamaScene, openOllamaScene } from './harness/ollama-scene.ts';
import { at } from './harness/scene.ts';

const limit = { timeout: 60_000 };
const ask = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };

describe('an Ollama that does not do as asked', { timeout: 300_000 }, () => {
  let scene: OllamaScene;
  let ollama: FakeOllama;
  let client: OpenAI;
  before(async () => {
    scene = await openOllamaScene();
    ({ ollama, client } = scene);
  });
  after(() => scene?.world.close());

  test('what it cannot do is refused by name, and never reaches it', limit, async () => {
    const before = ollama.asks.length;
    const chat = client.chat.completions.create({ ...ask, n: 2 });
    await assert.rejects(chat, { status: 400, code: 'request.unsupported' });
    const tokens = client.embeddings.create({ model: 'e:1b', input: [[1, 2]] });
    await assert.rejects(
      tokens,
      (error: Error) => error instanceof BadRequestError && /not tokens/.test(error.message),
    );
    const prompts = client.completions.create({ model: 'm', prompt: ['a', 'b'] });
    await assert.rejects(
      prompts,
      (error: Error) => error instanceof BadRequestError && /^400 prompt: /.test(error.message),
    );
    assert.equal(ollama.asks.length, before);
  });

  test('a prompt that is too long is an error that says what to raise', limit, async () => {
    const inner = {
      error: { code: 400, message: 'request (6010 tokens) exceeds the available context size (4096 tokens)' },
    };
    ollama.act(({ response }) => send(response, 400, { error: JSON.stringify(inner) }));
    await assert.rejects(client.chat.completions.create(ask), {
      status: 400,
      code: 'upstream.context-length',
      message: /4096 tokens \(num_ctx\): request \(6010 tokens\) exceeds .* raise num_ctx/,
    });
  });

  test('one that was cut all the same is said in the log of the Node', limit, async () => {
    const full = { done: true, done_reason: 'stop', prompt_eval_count: 4096, eval_count: 1 };
    ollama.act(({ response }) => {
      beginLines(response);
      writeLine(response, says({ content: 'hm' }));
      writeLine(response, full);
      response.end();
    });
    const { data, response } = await client.chat.completions.create(ask).withResponse();
    assert.equal(data.usage?.prompt_tokens, 4096);
    const line = await scene.node.program.line(/whole context of 4096 tokens/, 5_000);
    assert.equal(JSON.parse(line).run, response.headers.get('x-iop-run'));
  });

  test('an error after the beginning is no answer', limit, async () => {
    ollama.act(({ response }) => {
      beginLines(response);
      writeLine(response, says({ content: 'half' }));
      response.end(`${JSON.stringify({ error: 'the runner has gone' })}\n`);
    });
    const stream = await client.chat.completions.create({ ...ask, stream: true });
    let text = '';
    await assert.rejects(
      async () => {
        for await (const part of stream) text += part.choices[0]?.delta.content ?? '';
      },
      (error: Error) => error instanceof APIError && /the runner has gone/.test(error.message),
    );
    assert.equal(text, 'half');
  });

  for (const [when, began] of [
    ['before the first token', false],
    ['in mid-stream', true],
  ] as const) {
    test(`is let go when the caller leaves ${when}`, limit, async () => {
      ollama.act(({ response }) => {
        if (!began) return;
        beginLines(response);
        writeLine(response, says({ content: 'x' }));
      });
      const count = ollama.asks.length;
      const leaving = new AbortController();
      const stream = client.chat.completions.create({ ...ask, stream: true }, { signal: leaving.signal });
      const seen = await ollama.arrival(count);
      if (began) for await (const _part of await stream) break;
      else {
        leaving.abort();
        await assert.rejects(stream);
      }
      await eventually('Ollama sees it closed', 5_000, () => seen.closed);
      assert.equal(seen.finished, false);
    });
  }

  test(
    'whose queue is full: 503 and when to come back; with another Node, that one answers',
    limit,
    async () => {
      ollama.act(({ response }) =>
        send(response, 503, { error: 'server busy, please try again.  maximum pending requests exceeded' }),
      );
      const refused = await client.chat.completions.create(ask).catch((error: unknown) => error);
      assert.ok(refused instanceof APIError);
      assert.deepEqual(
        [refused.status, refused.code, refused.headers?.get('retry-after')],
        [503, 'upstream.queue-full', '1'],
      );
      await scene.startSecondNode();
      at(scene.ollamas, 1).act(sendLines(says({ content: 'from the other' })));
      for (let i = 0; i < 4; i++) {
        const answer = await client.chat.completions.create(ask);
        assert.equal(answer.choices[0]?.message.content, 'from the other');
      }
    },
  );
});
