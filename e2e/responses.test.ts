// `/v1/responses` on real processes: what is kept is there at once, outlives clients and Edges, and is stopped by its id.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI, { NotFoundError } from 'openai';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { call } from './harness/http.ts';
import { at, openScene, type Scene } from './harness/scene.ts';
import type { Upstream } from './harness/upstream.ts';

const limit = { timeout: 90_000 };
const words = Array.from({ length: 60 }, (_each, index) => `w${index} `);

describe('responses', { timeout: 300_000 }, () => {
  let scene: Scene;
  let upstream: Upstream;
  let responses: OpenAI['responses'];
  before(async () => {
    scene = await openScene();
    upstream = at(scene.upstreams, 0);
    const { url, apiKey } = scene.edge;
    responses = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }).responses;
  });
  after(() => scene?.world.close());

  test('a conversation goes on the moment its last answer is there', limit, async () => {
    let previous: Response | undefined;
    for (let turn = 0; turn < 20; turn++) {
      const id = previous?.id;
      const ask = {
        model: 'echo',
        input: `turn ${turn}`,
        ...(id !== undefined && { previous_response_id: id }),
      };
      previous = turn % 2 === 0 ? await responses.create(ask) : await responses.stream(ask).finalResponse();
      assert.equal(previous.output_text, `turn ${turn}`);
    }
    assert.ok((previous?.usage?.input_tokens ?? 0) > 60);
  });

  test('what was asked for is found again, listed, deleted, and gone for good', limit, async () => {
    const { id } = await responses.create({ model: 'echo', input: 'once' });
    assert.equal((await responses.retrieve(id)).output_text, 'once');
    const items = await responses.inputItems.list(id);
    assert.equal(items.data.length, 1);
    await responses.delete(id);
    await scene.edge.program.kill();
    await scene.edge.start();
    await scene.edge.nodesReady(['n1']);
    await assert.rejects(responses.retrieve(id), NotFoundError);
  });

  test('in the background it outlives its caller and the Edge, event for event', limit, async () => {
    upstream.forget();
    upstream.act({ kind: 'stream', chunks: words, paceMs: 40 });
    const stream = await responses.create({ model: 'm', input: 'go', background: true, stream: true });
    const seen: ResponseStreamEvent[] = [];
    for await (const event of stream) {
      seen.push(event);
      if (seen.length === 12) break;
    }
    const first = seen[0];
    assert.ok(first?.type === 'response.created');
    const { id } = first.response;
    await scene.edge.program.kill();
    await scene.edge.start();
    const after = seen.at(-1)?.sequence_number ?? -1;
    for await (const event of await responses.retrieve(id, { stream: true, starting_after: after }))
      seen.push(event);
    assert.equal(seen.at(-1)?.type, 'response.completed');
    const again: ResponseStreamEvent[] = [];
    for await (const event of await responses.retrieve(id, { stream: true })) again.push(event);
    assert.deepEqual(again, seen);
    assert.equal((await responses.retrieve(id)).output_text, words.join(''));
    assert.equal(upstream.requests.length, 1);
  });

  test('a cancel by its id closes the upstream, and says cancelled ever after', limit, async () => {
    upstream.forget();
    upstream.act({ kind: 'stream', chunks: Array(10_000).fill('x'), paceMs: 5 });
    const { id } = await responses.create({ model: 'm', input: 'go', background: true });
    const request = await upstream.arrival(0);
    const cancelled = await responses.cancel(id);
    assert.equal(cancelled.status, 'cancelled');
    await upstream.closed(request, 2_000);
    assert.equal((await responses.cancel(id)).status, 'cancelled');
    assert.equal((await responses.retrieve(id)).status, 'cancelled');
  });

  test(
    'a caller that hangs up on an attached one closes the upstream; it is kept as cancelled',
    limit,
    async () => {
      for (const stream of [true, false]) {
        upstream.forget();
        upstream.act({ kind: 'stream', chunks: Array(10_000).fill('x'), paceMs: 5 });
        const asking = call({
          url: `${scene.edge.url}/v1/responses`,
          method: 'POST',
          headers: { authorization: `Bearer ${scene.edge.apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'm', input: 'go', stream }),
        });
        asking.answer.catch(() => {});
        const request = await upstream.arrival(0);
        asking.hangUp();
        await upstream.closed(request, 2_000);
        const [run] = await scene.edge.runs();
        assert.ok(run !== undefined);
        const { end } = await scene.edge.runEnded(run.runId);
        assert.deepEqual(end, { kind: 'cancelled', by: 'caller' });
        const kept = await responses.retrieve(run.runId.replace('run_', 'resp_'));
        assert.equal(kept.status, 'cancelled');
      }
    },
  );
});
