import assert from 'node:assert/strict';
import { test } from 'node:test';
import type OpenAI from 'openai';
import { bearer, hello, openHttpLab } from '../../testing/http-lab.ts';
import { connectRaw, rawRequest } from '../../testing/raw-client.ts';

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'Qwen/Qwen3-8B',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hi', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

test('the body of the upstream reaches the caller byte for byte, with length, run and Node', async () => {
  await using lab = await openHttpLab();
  const text = JSON.stringify(completion, null, 3);
  lab.edge.script = (run) => {
    run.dispatch('gpu-7');
    run.raw(text.slice(0, 50));
    run.raw(text.slice(50));
    run.complete();
  };
  const response = await lab.chat(hello);
  assert.equal(response.status, 200);
  assert.equal(await response.text(), text);
  assert.equal(response.headers.get('content-length'), String(Buffer.byteLength(text)));
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('x-iop-run'), lab.edge.runs[0]?.id);
  assert.equal(response.headers.get('x-iop-node'), 'gpu-7');
});

test("the caller's bytes travel untouched, unknown fields and spacing included", async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => run.complete();
  const body = `{ "model":"qwen",\n"messages":[{"role":"user","content":"h\\u00e9llo"}], "safety_identifier":"x", "n":null }`;
  await lab.chat(body);
  const { intent } = await lab.edge.run(0);
  assert.equal(Buffer.from(intent.body).toString(), body);
  assert.deepEqual(
    {
      door: intent.door,
      keyId: intent.keyId,
      select: intent.select,
      dialect: intent.dialect,
      stream: intent.stream,
    },
    {
      door: 'openai',
      keyId: 'testtest',
      select: { kind: 'model', model: 'qwen' },
      dialect: 'openai.chat',
      stream: false,
    },
  );
});

test('window is given back while a whole answer is being collected', async () => {
  await using lab = await openHttpLab();
  const answer = lab.chat(hello);
  const run = await lab.edge.run(0);
  run.raw('x'.repeat(100_000));
  assert.equal(run.consumedBytes, 100_000);
  run.complete();
  assert.equal((await (await answer).text()).length, 100_000);
});

test('an answer beyond 8 MiB is passed through in chunks', async () => {
  await using lab = await openHttpLab();
  const piece = 'y'.repeat(64 * 1024);
  const answer = lab.chat(hello);
  const run = await lab.edge.run(0);
  for (let i = 0; i < 160; i++) run.raw(piece);
  const response = await answer;
  assert.equal(response.headers.get('content-length'), null);
  run.raw('end');
  run.complete();
  const text = await response.text();
  assert.equal(text.length, 160 * piece.length + 3);
  assert.ok(text.endsWith('yend'));
});

test('an answer that breaks after its beginning was sent never looks whole', async () => {
  await using lab = await openHttpLab();
  const answer = lab.chat(hello);
  const run = await lab.edge.run(0);
  for (let i = 0; i < 160; i++) run.raw('y'.repeat(64 * 1024));
  const response = await answer;
  run.fail();
  await assert.rejects(response.text());
});

test('an answer that breaks before anything was sent is an error with a status', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.dispatch();
    run.raw('{"id":');
    run.fail();
  };
  const response = await lab.chat(hello);
  assert.equal(response.status, 503);
  assert.equal(response.headers.get('x-should-retry'), 'false');
  assert.equal(response.headers.get('x-iop-run'), lab.edge.runs[0]?.id);
  assert.deepEqual(await response.json(), {
    error: { message: 'The Node gpu-1 was lost.', type: 'server_error', param: null, code: 'node.lost' },
  });
});

test('a run that ends before start has returned still answers with its run id', async () => {
  await using lab = await openHttpLab();
  const { start } = lab.edge;
  lab.edge.start = (intent, reader) => {
    reader.dispatched({ node: 'n', adapter: 'a', target: 't', attempt: 1 });
    reader.end({ kind: 'completed', finish: 'stop' }, 1);
    return start(intent, reader);
  };
  const response = await lab.chat(hello);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('x-iop-run'), lab.edge.runs[0]?.id);
});

test('text and tool calls of an adapter without a dialect become one completion', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit(
      { kind: 'reasoning', text: 'hm' },
      { kind: 'text', text: 'Let me ' },
      { kind: 'text', text: 'look.' },
    );
    run.emit({ kind: 'tool-call', index: 1, id: '', name: 'time', argumentsJson: '{}' });
    run.emit({ kind: 'tool-call', index: 0, id: 'call_a', name: 'weather', argumentsJson: '{"city":' });
    run.emit({ kind: 'tool-call', index: 0, id: 'call_a', name: 'weather', argumentsJson: '"Oslo"}' });
    run.complete({ finish: 'stop', usage: { promptTokens: 3, completionTokens: 4, estimated: true } });
  };
  const body = (await (await lab.chat(hello)).json()) as OpenAI.ChatCompletion & { usage: object };
  assert.equal(body.model, 'qwen');
  const [choice] = body.choices;
  assert.ok(choice);
  assert.equal(choice.finish_reason, 'tool_calls');
  assert.equal(choice.message.content, 'Let me look.');
  assert.equal((choice.message as { reasoning_content?: string }).reasoning_content, 'hm');
  const [first, second] = choice.message.tool_calls ?? [];
  assert.deepEqual(first, {
    id: 'call_a',
    type: 'function',
    function: { name: 'weather', arguments: '{"city":"Oslo"}' },
  });
  assert.match(second?.id ?? '', /^call_.+_1$/);
  assert.deepEqual(body.usage, { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, estimated: true });
});

test('two requests on one connection are answered in order, also when pipelined', async () => {
  await using lab = await openHttpLab();
  const client = await connectRaw(lab.port);
  const body = JSON.stringify(hello);
  client.send(rawRequest({ headers: bearer, body }) + rawRequest({ headers: bearer, body }));
  const first = await lab.edge.run(0);
  const second = await lab.edge.run(1);
  second.raw('{"answer":2}');
  second.complete();
  first.raw('{"answer":1}');
  first.complete();
  const text = await client.until(/"answer":2/);
  assert.ok(text.indexOf('"answer":1') < text.indexOf('"answer":2'));
  client.destroy();
});
