import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FinishReason } from '@iop/domain';
import { type HttpLab, openHttpLab } from '../../testing/http-lab.ts';
import { compile, skip } from '../../testing/openai-schemas.ts';
import { readResponseEvents } from '../../testing/response-events.ts';
import type { ScriptedRun } from '../../testing/scripted-edge.ts';

const tools = [
  { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} }, strict: true },
  { type: 'namespace', name: 'clock', description: 'Time', tools: [{ type: 'function', name: 'now' }] },
  { type: 'custom', name: 'patch', description: 'Patches', format: { type: 'text' } },
  { type: 'web_search' },
];
const ask = {
  model: 'qwen',
  instructions: 'Be short.',
  input: 'hello',
  tools,
  text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } } },
  metadata: { a: 'b' },
  user: 'u',
};

/** Everything that an answer can be made of. */
function playAll(run: ScriptedRun, finish: FinishReason = 'tool-calls'): void {
  run.dispatch();
  const logprobs = { content: [{ token: 'a', logprob: -1, top_logprobs: [{ token: 'a', logprob: -1 }] }] };
  const say = (delta: object, rest: object = {}) =>
    run.chunk({ choices: [{ index: 0, delta, finish_reason: null, ...rest }] });
  say({ reasoning: 'hm' });
  say({ content: 'Looking.' }, { logprobs });
  say({ refusal: 'No.' });
  say({ tool_calls: [{ index: 0, id: 'a', function: { name: 'weather', arguments: '{}' } }] });
  say({ tool_calls: [{ index: 1, id: 'b', function: { name: 'clock__now', arguments: '{}' } }] });
  say({ tool_calls: [{ index: 2, id: 'c', function: { name: 'patch', arguments: '{"input":"+a"}' } }] });
  run.complete({ finish, usage: { promptTokens: 1, completionTokens: 2, estimated: true } });
}

const ends: Record<string, (run: ScriptedRun) => void> = {
  completed: playAll,
  'cut at the limit': (run) => playAll(run, 'length'),
  filtered: (run) => playAll(run, 'content-filter'),
  empty: (run) => run.complete(),
  failed(run) {
    run.emit({ kind: 'text', text: 'half' });
    run.fail();
  },
  cancelled(run) {
    run.emit({ kind: 'text', text: 'half' });
    run.end({ kind: 'cancelled', by: 'operator' });
  },
};

for (const [what, script] of Object.entries(ends)) {
  test(`every event and body of a response that is ${what} matches the published schemas`, {
    skip,
  }, async () => {
    const assertMatches = compile();
    await using lab = await openHttpLab();
    lab.edge.script = script;
    const answer = await lab.post('/v1/responses', { ...ask, stream: true });
    const events = readResponseEvents(await answer.text());
    for (const event of events) assertMatches('ResponseStreamEvent', withoutNull(event));
    assert.deepEqual(
      events.map((event) => event.sequence_number),
      events.map((_event, index) => index),
    );
    const [first] = events as unknown as { response: { id: string } }[];
    assertMatches(
      'Response',
      withoutNull(await (await lab.get(`/v1/responses/${first?.response.id}`)).json()),
    );
  });
}

test('a response in the background matches in every state', { skip }, async () => {
  const assertMatches = compile();
  await using lab = await openHttpLab();
  const queued = await post(lab, { ...ask, background: true });
  assertMatches('Response', withoutNull(queued));
  assert.equal(queued.status, 'queued');
  const run = await lab.edge.run(0);
  run.dispatch();
  run.emit({ kind: 'text', text: 'half' });
  const running = (await (await lab.get(`/v1/responses/${queued.id}`)).json()) as typeof queued;
  assertMatches('Response', withoutNull(running));
  assert.deepEqual([running.status, running.output[0]?.status], ['in_progress', 'in_progress']);
  void run.cancelled.then((by) => run.end({ kind: 'cancelled', by }));
  const cancelled = await (await lab.post(`/v1/responses/${queued.id}/cancel`, {})).json();
  assertMatches('Response', withoutNull(cancelled));
  assert.equal((cancelled as typeof queued).status, 'cancelled');
});

test('input items of every kind match', { skip }, async () => {
  const assertMatches = compile();
  await using lab = await openHttpLab();
  lab.edge.script = (run) => run.complete();
  const input = [
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: 'hi' },
    {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_image', image_url: 'data:image/png;base64,AA' }],
    },
    { type: 'reasoning', id: 'rs_1', summary: [] },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: 'done' },
    { type: 'custom_tool_call', call_id: 'd', name: 'p', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'd', output: [{ type: 'input_text', text: 'ok' }] },
  ];
  const { id } = await post(lab, { model: 'qwen', input });
  const list = (await (await lab.get(`/v1/responses/${id}/input_items?order=asc`)).json()) as {
    data: unknown[];
  };
  assert.equal(list.data.length, input.length);
  assertMatches('ResponseItemList', list);
});

test('every error matches ErrorResponse', { skip }, async () => {
  const assertMatches = compile();
  await using lab = await openHttpLab();
  const answers = [
    await lab.post('/v1/responses', '{'),
    await lab.post('/v1/responses', { model: 'qwen' }),
    await lab.post('/v1/responses', { model: 'qwen', input: [{ type: 'web_search_call' }] }),
    await lab.post('/v1/responses', { model: 'qwen', input: 'x', tool_choice: { type: 'web_search' } }),
    await lab.post('/v1/responses', { model: 'qwen', input: 'x', previous_response_id: 'resp_1' }),
    await lab.get('/v1/responses/resp_1'),
    await lab.get('/v1/responses/resp_1/other'),
    await lab.post('/v1/responses/resp_1/cancel', {}),
  ];
  lab.edge.script = (run) => run.fail();
  answers.push(await lab.post('/v1/responses', { model: 'qwen', input: 'x', stream: true }));
  for (const answer of answers) {
    assert.ok(answer.status >= 400);
    assertMatches('ErrorResponse', await answer.json());
  }
});

/**
 * The description lets usage be missing and not be null, until it is known; OpenAI itself and its own examples, and
 * the Open Responses schemas, have null.
 */
function withoutNull(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, field) =>
    name === 'usage' && field === null ? undefined : field,
  );
}

interface Seen {
  id: string;
  status: string;
  output: { status: string }[];
}

async function post(lab: HttpLab, body: object): Promise<Seen> {
  return (await (await lab.post('/v1/responses', body)).json()) as Seen;
}
