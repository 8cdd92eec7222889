import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openHttpLab } from '../../testing/http-lab.ts';
import { withoutIds } from '../../testing/sse-text.ts';

const path = '/v1/completions';
const ask = { model: 'qwen', prompt: 'Once upon' };

test('a completion travels as the bytes that came, both ways', async () => {
  await using lab = await openHttpLab();
  const answer = '{"id":"cmpl-9","object":"text_completion","choices":[{"text":" a time"}] }';
  lab.edge.script = (run) => {
    run.raw(answer);
    run.complete();
  };
  const body = '{ "model":"qwen", "prompt":["a","b"], "suffix":"end", "echo":true, "n":2, "logprobs":5 }';
  const response = await lab.post(path, body);
  assert.equal(await response.text(), answer);
  const { intent } = await lab.edge.run(0);
  assert.equal(Buffer.from(intent.body).toString(), body);
  assert.deepEqual(
    [intent.dialect, intent.stream, intent.includeUsage],
    ['openai.completions', false, false],
  );
});

test('a streamed completion ends with [DONE]', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.chunk({ choices: [{ text: ' a' }] });
    run.chunk({ choices: [{ text: ' time', finish_reason: 'stop' }] });
    run.complete();
  };
  const text = await (await lab.post(path, { ...ask, stream: true })).text();
  assert.equal(text.split('\n\n').length, 4);
  assert.ok(text.endsWith('data: [DONE]\n\n'));
  assert.equal(lab.edge.runs[0]?.intent.stream, true);
});

test('text of an adapter without a dialect becomes a text_completion', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit(
      { kind: 'reasoning', text: 'hm' },
      { kind: 'text', text: ' a' },
      { kind: 'text', text: ' time' },
    );
    run.complete({ finish: 'length', usage: { promptTokens: 2, completionTokens: 2, estimated: false } });
  };
  const body = (await (await lab.post(path, ask)).json()) as Record<string, unknown>;
  assert.match(String(body.id), /^cmpl-0{26}$/);
  assert.deepEqual(
    { ...body, id: '', created: 0 },
    {
      id: '',
      object: 'text_completion',
      created: 0,
      model: 'qwen',
      choices: [{ text: ' a time', index: 0, logprobs: null, finish_reason: 'length' }],
      usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 },
    },
  );
});

test('its chunks are text_completions too: text, one finish, usage only if asked', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'text', text: ' a' }, { kind: 'text', text: ' time' });
    run.complete({ usage: { promptTokens: 2, completionTokens: 2, estimated: false } });
  };
  for (const includeUsage of [false, true]) {
    const options = { stream: true, stream_options: { include_usage: includeUsage } };
    const text = await (await lab.post(path, { ...ask, ...options })).text();
    const events = withoutIds(text).trimEnd().split('\n\n');
    assert.equal(events.pop(), 'data: [DONE]');
    const chunks = events.map((event) => JSON.parse(event.slice(6)));
    assert.deepEqual(
      chunks.flatMap(({ choices }) => choices).map((choice) => [choice.text, choice.finish_reason]),
      [
        [' a', null],
        [' time', null],
        ['', 'stop'],
      ],
    );
    assert.equal(chunks.at(-1).usage?.total_tokens, includeUsage ? 4 : undefined);
    assert.ok(chunks.every(({ object }) => object === 'text_completion'));
  }
});

test('thinking before the text begins the stream, and is not shown', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'reasoning', text: 'hm' });
    run.complete();
  };
  const text = await (await lab.post(path, { ...ask, stream: true })).text();
  assert.doesNotMatch(text, /hm/);
  assert.match(text, /"finish_reason":"stop"/);
});

test('a target that takes no completions is refused by name', async () => {
  await using lab = await openHttpLab();
  lab.edge.refusal = { kind: 'unsupported-dialect', asked: 'qwen', dialect: 'openai.completions' };
  const response = await lab.post(path, ask);
  assert.equal(response.status, 400);
  const { error } = (await response.json()) as { error: { message: string; code: string } };
  assert.equal(error.code, 'unsupported_model');
  assert.match(error.message, /`qwen` takes no completion requests/);
});

test('what an adapter cannot do, n of 2 with tools for one, is refused with its own words', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    const message = 'ollama gives one choice: n may be 1 only';
    run.fail({ kind: 'unsupported', code: 'request.unsupported', message, retryable: false });
  };
  const tools = [{ type: 'function', function: { name: 'f' } }];
  const chat = { model: 'qwen', n: 2, tools, messages: [{ role: 'user', content: 'x' }] };
  for (const stream of [false, true]) {
    for (const [where, body] of [
      ['/v1/chat/completions', chat],
      [path, { ...ask, n: 2 }],
    ] as const) {
      const response = await lab.post(where, { ...body, stream });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /ollama gives one choice: n may be 1 only/);
    }
  }
});

test('several choices with tool calls pass through as they came', async () => {
  await using lab = await openHttpLab();
  const call = (index: number) => ({
    choices: [{ index, delta: { tool_calls: [{ index: 0, id: `call_${index}`, type: 'function' }] } }],
  });
  lab.edge.script = (run) => {
    for (const index of [0, 1]) run.chunk(call(index));
    run.complete({ finish: 'tool-calls' });
  };
  const tools = [{ type: 'function', function: { name: 'f' } }];
  const chat = { model: 'qwen', n: 2, tools, stream: true, messages: [{ role: 'user', content: 'x' }] };
  const text = await (await lab.chat(chat)).text();
  const events = [0, 1].map((index) => `data: ${JSON.stringify(call(index))}\n\n`);
  assert.equal(withoutIds(text), `${events.join('')}data: [DONE]\n\n`);
});
