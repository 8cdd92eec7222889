import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openHttpLab } from '../../testing/http-lab.ts';

const path = '/v1/embeddings';
const ask = { model: 'bge', input: 'hello' };
const piece = Buffer.alloc(64 * 1024, '7');

test('embeddings travel as the bytes that came, with a length when they are small', async () => {
  await using lab = await openHttpLab();
  const answer = '{"object":"list", "data":[{"embedding":"AACAPw=="}]}';
  lab.edge.script = (run) => {
    run.raw(answer);
    run.complete();
  };
  const body = '{"model":"bge","input":[[1,2],[3]],"encoding_format":"base64","dimensions":1,"stream":true}';
  const response = await lab.post(path, body);
  assert.equal(await response.text(), answer);
  assert.equal(response.headers.get('content-length'), String(answer.length));
  assert.equal(response.headers.get('content-type'), 'application/json');
  const { intent } = await lab.edge.run(0);
  assert.deepEqual([intent.dialect, intent.stream], ['openai.embeddings', false]);
  assert.equal(Buffer.from(intent.body).toString(), body);
});

test('large embeddings begin to leave before they are whole', async () => {
  await using lab = await openHttpLab();
  const answer = lab.post(path, ask);
  const run = await lab.edge.run(0);
  for (let i = 0; i < 6; i++) run.raw(piece);
  const response = await answer;
  assert.equal(response.headers.get('content-length'), null);
  run.raw('end');
  run.complete();
  const text = await response.text();
  assert.equal(text.length, 6 * piece.length + 3);
  assert.ok(text.endsWith('7end'));
});

test('large embeddings that break on the way never look whole', async () => {
  await using lab = await openHttpLab();
  const answer = lab.post(path, ask);
  const run = await lab.edge.run(0);
  for (let i = 0; i < 6; i++) run.raw(piece);
  const response = await answer;
  assert.equal(response.status, 200);
  run.fail();
  await assert.rejects(response.text());
});

test('a caller that does not read holds no more than its window', async () => {
  await using lab = await openHttpLab();
  const answer = lab.post(path, ask);
  const run = await lab.edge.run(0);
  for (let i = 0; i < 6; i++) run.raw(piece);
  const response = await answer;
  let sentBytes = 6 * piece.length;
  // As a Node would: no more than a window beyond what was given back.
  while (sentBytes < 64 * 1024 * 1024 && sentBytes - run.consumedBytes < 256 * 1024) {
    run.raw(piece);
    sentBytes += piece.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(sentBytes < 64 * 1024 * 1024, 'the connection took everything');
  const rest = response.arrayBuffer();
  run.complete();
  assert.equal((await rest).byteLength, sentBytes);
});

test('a failure of small embeddings has a status', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.raw('{"object":');
    run.fail();
  };
  assert.equal((await lab.post(path, ask)).status, 503);
});

test('an answer without embeddings is an error, whatever else it says', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => run.complete();
  const empty = await lab.post(path, ask);
  assert.equal(empty.status, 500);
  assert.match(await empty.text(), /it is empty/);
  lab.edge.script = (run) => {
    run.emit({ kind: 'text', text: 'hello' });
    run.complete();
  };
  assert.match(await (await lab.post(path, ask)).text(), /it is text, which this path cannot show/);
});
