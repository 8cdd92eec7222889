// Bad input at the OpenAI door, by raw HTTP: a clear error in the door's own format, nothing lost or half done.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type ChatJson, chat, contentOf } from './harness/chat.ts';
import { within } from './harness/eventually.ts';
import { type Answer, call } from './harness/http.ts';
import { at, openScene, type Scene } from './harness/scene.ts';

const limit = { timeout: 60_000 };
const messages = [{ role: 'user', content: 'hi' }];

describe('bad input at the OpenAI door', { timeout: 300_000 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene();
  });
  after(() => scene?.world.close());

  function post(body: string | Buffer, headers: Record<string, string> = {}) {
    return call({
      url: `${scene.edge.url}/v1/chat/completions`,
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${scene.edge.apiKey}`,
        ...headers,
      },
      body,
    }).answer;
  }

  function assertError(answer: Answer, status: number) {
    assert.equal(answer.status, status, answer.text);
    assert.match(String(answer.headers['content-type']), /^application\/json/);
    const { error } = JSON.parse(answer.text) as ChatJson;
    assert.ok(error, answer.text);
    for (const field of ['message', 'type', 'param', 'code']) assert.ok(field in error, `no ${field}`);
    assert.ok(answer.headers['x-request-id'], 'no x-request-id');
    return error;
  }

  async function reachesNobody(answering: Promise<Answer>, status: number) {
    const before = at(scene.upstreams, 0).requests.length;
    const error = assertError(await answering, status);
    assert.equal(at(scene.upstreams, 0).requests.length, before);
    return error;
  }

  const bodies: { name: string; body: string | Buffer }[] = [
    { name: 'is empty', body: '' },
    { name: 'is cut JSON', body: '{"model":"m","messages":[' },
    { name: 'is not JSON', body: 'model=m' },
    { name: 'is an array', body: '[]' },
    { name: 'is null', body: 'null' },
    { name: 'is no UTF-8', body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]) },
    { name: 'nests 100 000 arrays', body: '['.repeat(100_000) },
    { name: 'has no model', body: JSON.stringify({ messages }) },
    { name: 'has a number as model', body: JSON.stringify({ model: 5, messages }) },
    { name: 'has an empty model', body: JSON.stringify({ model: '', messages }) },
    { name: 'has no messages', body: JSON.stringify({ model: 'm' }) },
    { name: 'has empty messages', body: JSON.stringify({ model: 'm', messages: [] }) },
    { name: 'has a text as messages', body: JSON.stringify({ model: 'm', messages: 'hi' }) },
    { name: 'has numbers as messages', body: JSON.stringify({ model: 'm', messages: [1, 2] }) },
    { name: 'has a text as stream', body: JSON.stringify({ model: 'm', messages, stream: 'yes' }) },
    {
      name: 'has a text as stream_options',
      body: JSON.stringify({ model: 'm', messages, stream: true, stream_options: 'all' }),
    },
  ];
  for (const { name, body } of bodies) {
    test(`a body that ${name} is HTTP 400`, limit, async () => {
      const error = await reachesNobody(post(body), 400);
      assert.equal(error.type, 'invalid_request_error');
    });
  }

  test('a body of 100 MB is HTTP 413, and costs the Edge no memory', limit, async () => {
    const before = scene.edge.program.memoryBytes();
    const body = Buffer.alloc(100 << 20, ' ');
    // The door may close while we still send: then there is no answer to read, which is fine too.
    const answer = await post(body).catch(() => undefined);
    if (answer !== undefined) assertError(answer, 413);
    const grown = scene.edge.program.memoryBytes() - before;
    assert.ok(grown < 64 << 20, `the Edge grew by ${grown} bytes`);
  });

  test('a length of 100 MB is refused before a byte of the body was sent', limit, async () => {
    const head = await rawAnswer(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${scene.edge.apiKey}\r\n` +
        'content-type: application/json\r\ncontent-length: 104857600\r\n\r\n',
    );
    assert.match(head, /^HTTP\/1\.1 413 /);
  });

  test('an unknown model is HTTP 404 and names the nearest', limit, async () => {
    const error = await reachesNobody(post(JSON.stringify({ model: 'ecko', messages })), 404);
    assert.equal(error.code, 'model_not_found');
    assert.match(error.message, /echo/);
  });

  test('no key, a wrong key, a broken key: HTTP 401', limit, async () => {
    const body = JSON.stringify({ model: 'm', messages });
    const wrong = `${scene.edge.apiKey.slice(0, -4)}AAAA`;
    for (const authorization of [
      '',
      'Bearer',
      'Bearer nonsense',
      `Basic ${wrong}`,
      `Bearer ${wrong}`,
      'Bearer iop_x_y',
    ]) {
      const error = await reachesNobody(post(body, { authorization }), 401);
      assert.doesNotMatch(error.message, new RegExp(wrong.slice(-20)));
    }
  });

  test('a revoked key is HTTP 401 from that moment', limit, async () => {
    const operator = await scene.edge.operator();
    const secret = await operator.createKey('short-lived');
    const headers = { authorization: `Bearer ${secret}` };
    assert.equal((await chat(scene.edge, { headers }).answer).status, 200);
    await operator.revokeKey(at(secret.split('_'), 1));
    assertError(await chat(scene.edge, { headers }).answer, 401);
    operator.close();
  });

  test('a wrong method is HTTP 405 and names the right one', limit, async () => {
    const headers = { authorization: `Bearer ${scene.edge.apiKey}` };
    for (const [method, path, allowed] of [
      ['GET', '/v1/chat/completions', 'POST'],
      ['DELETE', '/v1/chat/completions', 'POST'],
      ['POST', '/v1/models', 'GET'],
    ] as const) {
      const answer = await call({ url: scene.edge.url + path, method, headers }).answer;
      assertError(answer, 405);
      assert.match(String(answer.headers.allow), new RegExp(allowed));
    }
  });

  test('an unknown path is HTTP 404 in JSON', limit, async () => {
    const headers = { authorization: `Bearer ${scene.edge.apiKey}` };
    assertError(await call({ url: `${scene.edge.url}/v1/nothing`, headers }).answer, 404);
  });

  test('bytes that are not HTTP are answered by 400 and a close', limit, async () => {
    assert.match(await rawAnswer('\x16\x03\x01 this is no HTTP\r\n\r\n'), /^HTTP\/1\.1 400 /);
  });

  test('a model that is named twice reaches the upstream under one name', limit, async () => {
    const upstream = at(scene.upstreams, 0);
    upstream.forget();
    const answer = await post(`{"model":"nobody","model":"m","messages":${JSON.stringify(messages)}}`);
    if (answer.status === 400) return;
    assert.equal(answer.status, 200, answer.text);
    const { text } = at(upstream.requests, 0);
    assert.doesNotMatch(text, /nobody/);
  });

  test('and after all that a good request is answered', limit, async () => {
    assert.equal(contentOf((await chat(scene.edge).answer).text), 'ok');
  });

  /** What comes back on a bare socket until the door closes it or 2 KB are there. */
  function rawAnswer(text: string): Promise<string> {
    const answer = new Promise<string>((resolve, reject) => {
      let got = '';
      const socket = connect(scene.edge.httpPort, '127.0.0.1', () => socket.write(text));
      socket.on('data', (piece) => {
        got += piece;
        if (got.includes('\r\n\r\n')) socket.destroy();
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(got));
    });
    return within('the door answers', 5_000, answer);
  }
});
