// The spine: a chat request enters at the OpenAI door, runs on a Node, and comes back, whole or streamed.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ChatJson, chat, contentOf, readStream } from './harness/chat.ts';
import { call } from './harness/http.ts';
import { at, openScene, type Scene } from './harness/scene.ts';
import { finishChunk } from './harness/upstream-act.ts';

const limit = { timeout: 60_000 };

for (const tls of [true, false]) {
  describe(`a chat request ${tls ? 'over a TLS link' : 'over a plaintext link'}`, {
    timeout: 300_000,
  }, () => {
    let scene: Scene;
    before(async () => {
      scene = await openScene({ tls });
    });
    after(() => scene?.world.close());

    test('is answered by the mock, whole and streamed alike', limit, async () => {
      const whole = await chat(scene.edge, { model: 'echo', prompt: 'say this' }).answer;
      const streamed = await chat(scene.edge, { model: 'echo', prompt: 'say this', stream: true }).answer;
      assert.match(contentOf(whole.text), /say this/);
      const reading = readStream(streamed.text);
      assert.equal(reading.content, contentOf(whole.text));
      assert.equal(reading.finish, 'stop');
      assert.equal(reading.done, true);
    });

    test('is answered by an upstream, byte for byte as it answered', limit, async () => {
      const upstream = at(scene.upstreams, 0);
      const body = JSON.stringify({
        choices: [{ message: { content: 'ünchanged' } }],
        odd: { a: [1, null] },
      });
      upstream.act({ kind: 'bytes', status: 200, body });
      assert.equal((await chat(scene.edge).answer).text, body);
    });

    test('is streamed byte for byte as the upstream streamed, with [DONE] at the end', limit, async () => {
      const upstream = at(scene.upstreams, 0);
      upstream.act({ kind: 'stream', chunks: ['ü', { odd: true, choices: [] }, 'z'], paceMs: 3 });
      const answer = await chat(scene.edge, { stream: true }).answer;
      assert.match(String(answer.headers['content-type']), /^text\/event-stream/);
      assert.ok(answer.headers['x-iop-run']);
      const { data, content } = readStream(answer.text);
      assert.equal(content, 'üz');
      assert.ok(data.includes('{"odd":true,"choices":[]}'));
      assert.equal(data.at(-2), JSON.stringify(finishChunk));
      assert.equal(data.at(-1), '[DONE]');
    });

    test('reaches the upstream with the body that the caller sent', limit, async () => {
      const upstream = at(scene.upstreams, 0);
      upstream.forget();
      upstream.act({ kind: 'json', content: 'x' });
      await chat(scene.edge, { extra: { temperature: 0.25, vendor_thing: { deep: ['ü'] }, n: 2 } }).answer;
      const { body, headers } = at(upstream.requests, 0);
      assert.deepEqual(body, {
        model: 'm',
        stream: false,
        messages: [{ role: 'user', content: 'hello' }],
        temperature: 0.25,
        vendor_thing: { deep: ['ü'] },
        n: 2,
      });
      assert.equal(headers.authorization, undefined, 'the caller’s key went to the upstream');
    });

    test('of 5 MB reaches the upstream whole', limit, async () => {
      const upstream = at(scene.upstreams, 0);
      upstream.forget();
      upstream.act({ kind: 'json', content: 'read' });
      const prompt = 'lorem ipsum '.repeat(450_000);
      assert.equal(contentOf((await chat(scene.edge, { prompt }).answer).text), 'read');
      assert.equal(at(at(upstream.requests, 0).body.messages, 0).content, prompt);
    });

    test('shows usage in the stream when asked, and not when not asked', limit, async () => {
      at(scene.upstreams, 0).act({ kind: 'stream', chunks: ['a'] });
      const asked = await chat(scene.edge, {
        stream: true,
        extra: { stream_options: { include_usage: true } },
      }).answer;
      assert.equal(readStream(asked.text).usage?.prompt_tokens, 7);
      const unasked = await chat(scene.edge, { stream: true }).answer;
      assert.equal(readStream(unasked.text).usage, undefined);
      assert.equal(readStream(unasked.text).done, true);
    });

    test('leaves a record that it completed', limit, async () => {
      at(scene.upstreams, 0).act({ kind: 'json', content: 'x' });
      const { headers } = await chat(scene.edge).answer;
      const run = await scene.edge.runEnded(String(headers['x-iop-run']));
      assert.equal(run.state, 'completed');
      assert.equal(run.node, 'n1');
      assert.equal(run.attempts, 1);
    });
  });
}

test('models are listed once each, health and metrics are served', limit, async () => {
  const scene = await openScene({ nodes: ['n1', 'n2'] });
  try {
    const headers = { authorization: `Bearer ${scene.edge.apiKey}` };
    const get = (path: string) => call({ url: scene.edge.url + path, headers }).answer;
    const models = JSON.parse((await get('/v1/models')).text) as { data: { id: string; object: string }[] };
    assert.deepEqual(models.data.map((model) => model.id).toSorted(), ['echo', 'm']);
    assert.equal((await get('/v1/models/m')).status, 200);
    const missing = await get('/v1/models/none');
    assert.equal(missing.status, 404);
    assert.equal((JSON.parse(missing.text) as ChatJson).error?.code, 'model_not_found');
    assert.equal((await call({ url: `${scene.edge.url}/healthz` }).answer).status, 200);
    assert.match((await get('/metrics')).text, /^iop_edge_/m);
  } finally {
    await scene.world.close();
  }
});
