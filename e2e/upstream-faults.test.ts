// What a caller sees when the upstream behind a Node misbehaves: the right status before the first token,
// an error event after it, and never anything that looks like a whole answer.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ChatJson, chat, contentOf, readStream } from './harness/chat.ts';
import { eventually } from './harness/eventually.ts';
import type { Answer } from './harness/http.ts';
import { at, openScene, type Scene } from './harness/scene.ts';
import type { Upstream } from './harness/upstream.ts';
import type { StreamEnd, UpstreamAct } from './harness/upstream-act.ts';

const limit = { timeout: 60_000 };
const timeouts = { connect_timeout: '1s', first_byte_timeout: '1s', idle_timeout: '1s' };

function errorOf(answer: Answer) {
  const { error } = JSON.parse(answer.text) as ChatJson;
  assert.ok(error, `no error in ${answer.text}`);
  assert.equal(typeof error.message, 'string');
  assert.equal(typeof error.type, 'string');
  return error;
}

describe('a broken upstream', { timeout: 300_000 }, () => {
  let scene: Scene;
  let upstream: Upstream;
  before(async () => {
    // each row is to reach the upstream, whatever the one before did
    scene = await openScene({ vllm: { ...timeouts, breaker: false } });
    upstream = at(scene.upstreams, 0);
  });
  after(() => scene?.world.close());

  const rows: { name: string; act: UpstreamAct; status: number; headers?: Record<string, string> }[] = [
    { name: 'hangs before its headers', act: { kind: 'hang' }, status: 504 },
    { name: 'hangs up without an answer', act: { kind: 'drop' }, status: 503 },
    {
      name: 'answers 429',
      act: {
        kind: 'bytes',
        status: 429,
        headers: { 'retry-after': '7' },
        body: '{"error":{"message":"slow down"}}',
      },
      status: 429,
      headers: { 'retry-after': '7' },
    },
    {
      name: 'answers 500',
      act: { kind: 'bytes', status: 500, body: '{"error":{"message":"boom"}}' },
      status: 500,
    },
    { name: 'answers 500 in HTML', act: { kind: 'bytes', status: 500, body: '<h1>boom</h1>' }, status: 500 },
    {
      name: 'answers 400',
      act: { kind: 'bytes', status: 400, body: '{"error":{"message":"no such parameter"}}' },
      status: 400,
    },
  ];

  for (const stream of [false, true]) {
    for (const { name, act, status, headers } of rows) {
      const how = stream ? 'with streaming' : 'without streaming';
      test(`that ${name}, ${how}, becomes HTTP ${status} with an error body`, limit, async () => {
        upstream.act(act);
        const answer = await chat(scene.edge, { stream }).answer;
        assert.equal(answer.status, status, answer.text);
        errorOf(answer);
        for (const [header, value] of Object.entries(headers ?? {}))
          assert.equal(answer.headers[header], value);
        assert.equal(at(await scene.edge.runs(), 0).end?.kind, 'failed');
      });
    }
  }

  test('that answers 200 with no JSON becomes HTTP 503', limit, async () => {
    upstream.act({ kind: 'bytes', status: 200, body: '{"choices":[{"message":' });
    const answer = await chat(scene.edge).answer;
    assert.equal(answer.status, 503, answer.text);
    errorOf(answer);
  });

  const ends: StreamEnd[] = ['hang', 'cut', 'reset', 'end-early', 'bad-json'];
  for (const end of ends) {
    test(
      `whose stream ends by "${end}" is an error event after what came, and no [DONE]`,
      limit,
      async () => {
        upstream.act({ kind: 'stream', chunks: ['half', ' an ', 'answer'], paceMs: 30, end });
        const answer = await chat(scene.edge, { stream: true }).answer;
        assert.equal(answer.status, 200);
        const reading = readStream(answer.text);
        assert.equal(reading.content, 'half an answer');
        assert.equal(reading.finish, undefined);
        assert.equal(reading.done, false);
        assert.ok(reading.error, answer.text);
        assert.equal(at(await scene.edge.runs(), 0).end?.kind, 'failed');
      },
    );
  }

  test(
    'that floods 256 MB without a blank line is cut off, and memory stays where it was',
    limit,
    async () => {
      const node = at(scene.nodes, 0).program;
      const was = { node: node.memoryBytes(), edge: scene.edge.program.memoryBytes() };
      upstream.forget();
      upstream.act({ kind: 'flood', sizeBytes: 256 << 20 });
      const answer = await chat(scene.edge, { stream: true }).answer;
      const reading = readStream(answer.text);
      assert.equal(reading.done, false);
      assert.equal(
        answer.status === 200 ? reading.error !== undefined : answer.status >= 500,
        true,
        answer.text,
      );
      await upstream.closed(at(upstream.requests, 0));
      assert.ok(node.memoryBytes() - was.node < 48 << 20, `Node grew by ${node.memoryBytes() - was.node}`);
      assert.ok(scene.edge.program.memoryBytes() - was.edge < 48 << 20);
    },
  );

  test('that is gone becomes HTTP 503, and is used again when it is back', limit, async () => {
    const { port } = upstream;
    await upstream.close();
    const answer = await chat(scene.edge).answer;
    assert.ok([502, 503].includes(answer.status), answer.text);
    errorOf(answer);
    upstream = await scene.world.upstream({ port });
    upstream.act({ kind: 'json', content: 'back' });
    await eventually('it answers again', 15_000, async () => {
      const again = await chat(scene.edge).answer;
      return again.status === 200 && contentOf(again.text) === 'back';
    });
  });
});

describe('a broken upstream beside a healthy one', { timeout: 300_000 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene({ nodes: ['n1', 'n2'], vllm: timeouts });
  });
  after(() => scene?.world.close());

  const broken: { name: string; act: UpstreamAct }[] = [
    { name: 'hangs before its headers', act: { kind: 'hang' } },
    { name: 'hangs up', act: { kind: 'drop' } },
    { name: 'answers 429', act: { kind: 'bytes', status: 429, body: '{}' } },
    { name: 'answers 500', act: { kind: 'bytes', status: 500, body: '{}' } },
    { name: 'sends no event before it is cut', act: { kind: 'stream', chunks: [], end: 'cut' } },
  ];
  for (const { name, act } of broken) {
    test(`that ${name}: the other Node answers, streaming or not`, limit, async () => {
      const [bad, good] = [at(scene.upstreams, 0), at(scene.upstreams, 1)];
      bad.act(act);
      good.act((seen) =>
        seen.body.stream === true
          ? { kind: 'stream', chunks: ['go', 'od'] }
          : { kind: 'json', content: 'good' },
      );
      for (const stream of [true, false, true, false]) {
        const answer = await chat(scene.edge, { stream }).answer;
        assert.equal(answer.status, 200, answer.text);
        assert.equal(stream ? readStream(answer.text).content : contentOf(answer.text), 'good');
        if (stream) assert.equal(readStream(answer.text).done, true);
      }
    });
  }

  test('that breaks after its first token is not tried elsewhere', limit, async () => {
    for (const upstream of scene.upstreams) {
      upstream.forget();
      upstream.act({ kind: 'stream', chunks: ['half'], paceMs: 50, end: 'cut' });
    }
    const reading = readStream((await chat(scene.edge, { stream: true }).answer).text);
    assert.equal(reading.content, 'half');
    assert.equal(reading.done, false);
    assert.ok(reading.error);
    assert.equal(scene.upstreams.flatMap((upstream) => upstream.requests).length, 1);
  });
});
