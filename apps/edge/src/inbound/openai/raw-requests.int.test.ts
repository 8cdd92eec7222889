import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, type HttpLab, openHttpLab } from '../../testing/http-lab.ts';
import { connectRaw, rawRequest } from '../../testing/raw-client.ts';

const ask = { model: 'bge', query: 'x', documents: ['a'] };

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code;
}

function answerJson(lab: HttpLab, contentType = 'application/json'): void {
  lab.edge.script = (run) => {
    run.emit({ kind: 'head', contentType });
    run.raw('{"results":[]}');
    run.complete();
  };
}

test('a POST that only its upstream knows is passed on with its path and its content type', async () => {
  await using lab = await openHttpLab();
  answerJson(lab, 'application/json; charset=utf-8');
  const body = '{ "model":"bge", "query":"x" }';
  const response = await lab.post('/v1/rerank', body, { 'content-type': 'application/json; v=2' });
  assert.equal(await response.text(), '{"results":[]}');
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(response.headers.get('content-length'), '14');
  const { intent } = await lab.edge.run(0);
  assert.equal(intent.dialect, 'openai.raw');
  assert.deepEqual(intent.raw, { path: 'rerank', contentType: 'application/json; v=2' });
  assert.deepEqual(intent.select, { kind: 'model', model: 'bge' });
  assert.equal(Buffer.from(intent.body).toString(), body);
});

test('the model of a form is found beside its files', async () => {
  await using lab = await openHttpLab();
  answerJson(lab);
  const form = new FormData();
  form.set('file', new Blob([Buffer.alloc(300_000, '\r\n--')]), 'speech.wav');
  form.set('model', 'whisper');
  form.set('stream', 'true');
  const response = await lab.post('/v1/audio/transcriptions', form);
  assert.equal(response.status, 200);
  const { intent } = await lab.edge.run(0);
  assert.deepEqual(intent.select, { kind: 'model', model: 'whisper' });
  assert.equal(intent.stream, true);
  assert.equal(intent.raw?.path, 'audio/transcriptions');
  assert.match(intent.raw?.contentType ?? '', /^multipart\/form-data; boundary=/);
  assert.ok(intent.body.length > 300_000);
});

test('bytes of another kind than JSON leave as they come, and a break resets the connection', async () => {
  await using lab = await openHttpLab();
  const answer = lab.post('/v1/audio/speech', { model: 'tts', input: 'hi' });
  const run = await lab.edge.run(0);
  run.emit({ kind: 'head', contentType: 'audio/mpeg' });
  run.raw(Buffer.from([0xff, 0xfb, 0x00]));
  const response = await answer;
  assert.equal(response.headers.get('content-type'), 'audio/mpeg');
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
  const reader = response.body?.getReader();
  assert.deepEqual([...((await reader?.read())?.value ?? [])], [0xff, 0xfb, 0x00]);
  run.fail();
  await assert.rejects(async () => reader?.read());
});

test('events of a raw stream leave at once and nothing is added to them', async () => {
  await using lab = await openHttpLab();
  const answer = lab.post('/v1/audio/stories', { model: 'qwen', input: 'hi', stream: true });
  const run = await lab.edge.run(0);
  assert.equal(run.intent.stream, true);
  run.emit({ kind: 'head', contentType: 'text/event-stream' });
  run.raw('event: response.created\ndata: {}\n\n');
  const response = await answer;
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  run.raw('event: response.completed\ndata: {}\n\n');
  run.complete();
  const text = await response.text();
  assert.equal(text, 'event: response.created\ndata: {}\n\nevent: response.completed\ndata: {}\n\n');
});

test('the head of the last attempt counts, and one that would split the answer does not', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'head', contentType: 'text/plain' });
    run.emit({ kind: 'head', contentType: 'a/b\r\nx-evil: 1' });
    run.raw('x');
    run.complete();
  };
  const response = await lab.post('/v1/rerank', ask);
  assert.equal(response.headers.get('content-type'), 'application/octet-stream');
  assert.equal(response.headers.get('x-evil'), null);
});

test('an upstream that answers nothing is answered with nothing', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'head', contentType: 'text/plain' });
    run.complete();
  };
  const response = await lab.post('/v1/rerank', ask);
  assert.deepEqual([response.status, await response.text()], [200, '']);
});

test('without a model there is nobody to pass it on to: 404, after the key was checked', async () => {
  await using lab = await openHttpLab();
  const form = new FormData();
  form.set('file', 'x');
  for (const body of ['', '{}', '{"model":null}', form]) {
    const response = await lab.post('/v1/moderations', body);
    assert.equal(response.status, 404);
    assert.equal(await codeOf(response), 'unknown_url');
  }
  const stranger = await lab.post('/v1/moderations', ask, { authorization: 'Bearer wrong' });
  assert.equal(stranger.status, 401);
  assert.equal(lab.edge.runs.length, 0);
});

test('bad raw requests are 400 with a code', async () => {
  await using lab = await openHttpLab();
  const send = async (body: unknown, contentType = 'application/json', query = '') => {
    const response = await lab.post(`/v1/rerank${query}`, body, { 'content-type': contentType });
    return [response.status, await codeOf(response)];
  };
  assert.deepEqual(await send('{"model":"a'), [400, 'invalid_json']);
  assert.deepEqual(await send('[1]'), [400, 'invalid_type']);
  assert.deepEqual(await send({ model: 7 }), [400, 'invalid_type']);
  assert.deepEqual(await send({ model: '' }), [400, 'invalid_value']);
  assert.deepEqual(await send('x', 'multipart/form-data'), [400, 'invalid_multipart']);
  assert.deepEqual(await send('x', 'multipart/form-data; boundary=b'), [400, 'invalid_multipart']);
  assert.deepEqual(await send(ask, 'application/json', '?api-version=1'), [400, 'unsupported_query']);
});

test('a path that could be read in two ways goes nowhere', async () => {
  await using lab = await openHttpLab();
  const body = JSON.stringify(ask);
  for (const path of [
    '/v1/../metrics',
    '/v1/a/../b',
    '/v1/%2e%2e/admin',
    '/v1/a//b',
    '/v1/a%20b',
    '/v1/a%2f..%2fb',
    '/v1/a%00b',
    '/v1/a%3fb',
    '/v1/a\\b',
    `/v1/${'a'.repeat(257)}`,
  ]) {
    const client = await connectRaw(lab.port);
    client.send(rawRequest({ path, headers: bearer, body }));
    assert.match(await client.until(/unknown_url|"error"/), /^HTTP\/1\.1 (404|400)/, path);
    client.destroy();
  }
  assert.equal(lab.edge.runs.length, 0);
});

test('paths that have a route keep their methods', async () => {
  await using lab = await openHttpLab();
  assert.equal((await lab.post('/v1/models', ask)).status, 405);
  assert.equal((await lab.get('/v1/rerank')).status, 404);
  assert.equal((await lab.get('/v1/embeddings')).status, 405);
});

test('a target whose adapter passes nothing on says so', async () => {
  await using lab = await openHttpLab();
  lab.edge.refusal = { kind: 'unsupported-dialect', asked: 'bge', dialect: 'openai.raw' };
  const response = await lab.post('/v1/rerank', ask);
  assert.equal(response.status, 400);
  assert.match(await response.text(), /`bge` takes no requests on paths that only its upstream knows/);
});
