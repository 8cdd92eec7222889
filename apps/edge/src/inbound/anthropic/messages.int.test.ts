import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHttpClock, openHttpLab } from '../../testing/http-lab.ts';
import { connectRaw, rawRequest } from '../../testing/raw-client.ts';
import { goodKey, type ScriptedRun } from '../../testing/scripted-edge.ts';

const messages = [{ role: 'user', content: 'hello' }];
const plain = { model: 'qwen', max_tokens: 64, messages };
const streamed = { ...plain, stream: true };

interface Event {
  type: string;
  [field: string]: unknown;
}

/** The events of a stream; each says its own name twice. */
function eventsOf(text: string): Event[] {
  const blocks = text.split('\n\n').slice(0, -1);
  return blocks.map((block) => {
    const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(block) ?? [];
    const event = JSON.parse(data ?? '') as Event;
    assert.equal(event.type, name);
    return event;
  });
}

const typesOf = (text: string) => eventsOf(text).map(({ type }) => type);

async function errorOf(response: Response): Promise<[number, string, string]> {
  const body = (await response.json()) as {
    type: string;
    error: { type: string; details: { error_code: string } };
  };
  assert.equal(body.type, 'error');
  assert.match(response.headers.get('request-id') ?? '', /^req_/);
  return [response.status, body.error.type, body.error.details.error_code];
}

function playTyped(run: ScriptedRun): void {
  run.emit({ kind: 'reasoning', text: 'hm' }, { kind: 'text', text: 'Hi' });
  run.emit({ kind: 'tool-call', index: 0, id: '', name: 'look', argumentsJson: '{"at":"sky"}' });
  run.emit({ kind: 'usage', usage: { promptTokens: 3, completionTokens: 4, estimated: true } });
  run.complete();
}

test('everything that is refused under these paths is refused as Anthropic does', async () => {
  await using lab = await openHttpLab({ bodyLimitBytes: 1000 });
  const post = (body: unknown, headers?: Record<string, string>) =>
    lab.post('/v1/messages?beta=true', body, headers);
  const rows: [Promise<Response>, [number, string, string]][] = [
    [post(plain, { authorization: 'Bearer no' }), [401, 'authentication_error', 'invalid_api_key']],
    [post('{'), [400, 'invalid_request_error', 'invalid_json']],
    [post({ ...plain, system: 'x'.repeat(1000) }), [413, 'request_too_large', 'request_too_large']],
    [post(plain, { 'content-encoding': 'gzip' }), [415, 'invalid_request_error', 'unsupported_encoding']],
    [lab.get('/v1/messages'), [405, 'invalid_request_error', 'method_not_allowed']],
    [lab.get('/v1/messages/count_tokens'), [405, 'invalid_request_error', 'method_not_allowed']],
    [post(plain, { 'x-iop-on-disconnect': 'what' }), [400, 'invalid_request_error', 'invalid_value']],
    [
      post(plain, { 'idempotency-key': 'x'.repeat(256) }),
      [400, 'invalid_request_error', 'invalid_idempotency_key'],
    ],
  ];
  for (const [answer, expected] of rows) assert.deepEqual(await errorOf(await answer), expected);
});

test('a key comes as x-api-key too, and events that speak no dialect become blocks', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = playTyped;
  const headers = {
    'content-type': 'application/json',
    'x-api-key': goodKey,
    'anthropic-version': '2023-06-01',
  };
  const response = await fetch(`${lab.url}/v1/messages`, {
    method: 'POST',
    headers,
    body: JSON.stringify(plain),
  });
  const message = (await response.json()) as Record<string, unknown> & { usage: Record<string, unknown> };
  assert.equal(message.stop_reason, 'tool_use');
  const kinds = (message.content as Event[]).map(({ type }) => type);
  assert.deepEqual(kinds, ['thinking', 'text', 'tool_use']);
  const call = (message.content as Event[])[2];
  assert.deepEqual([call?.id, call?.input], [`toolu_${'0'.repeat(26)}_2`, { at: 'sky' }]);
  const { input_tokens: input, output_tokens: output, estimated } = message.usage;
  assert.deepEqual([input, output, estimated], [3, 4, true]);
  const { intent } = await lab.edge.run(0);
  assert.deepEqual(
    [intent.door, intent.dialect, intent.stream, intent.includeUsage],
    ['anthropic', 'openai.chat', true, true],
  );
});

test('a stream: one block at a time, each with its own index', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = playTyped;
  const response = await lab.post('/v1/messages', streamed);
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  const events = eventsOf(await response.text());
  const block = ['content_block_start', 'content_block_delta', 'content_block_stop'];
  const thinking = ['content_block_start', 'content_block_delta', ...block.slice(1)];
  assert.deepEqual(
    events.map(({ type }) => type),
    ['message_start', ...thinking, ...block, ...block, 'message_delta', 'message_stop'],
  );
  const indexes = events.flatMap(({ index }) => (index === undefined ? [] : [index]));
  assert.deepEqual(indexes, [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]);
});

test('arguments that are no JSON come as they were given', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'tool-call', index: 0, id: 'a', name: 'look', argumentsJson: '{"at": "sk' });
    run.complete({ finish: 'length' });
  };
  const message = (await (await lab.post('/v1/messages', plain)).json()) as { content: Event[] } & Event;
  assert.deepEqual([message.content[0]?.input, message.stop_reason], ['{"at": "sk', 'max_tokens']);
});

test('what an engine never counted is estimated, and says so, whole and streamed', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'text', text: 'twelve chars' });
    run.complete();
  };
  const whole = (await (await lab.post('/v1/messages', plain)).json()) as { usage: Record<string, unknown> };
  const events = eventsOf(await (await lab.post('/v1/messages', streamed)).text());
  const last = events.find(({ type }) => type === 'message_delta')?.usage as Record<string, unknown>;
  for (const { input_tokens: input, output_tokens: output, estimated } of [whole.usage, last]) {
    assert.ok(Number(input) > 0);
    assert.deepEqual([output, estimated], [3, true]);
  }
});

test('a filter, a refusal and a call that is promised but missing', async () => {
  await using lab = await openHttpLab();
  const play = async (script: (run: ScriptedRun) => void) => {
    lab.edge.script = script;
    return (await (await lab.post('/v1/messages', plain)).json()) as Record<string, unknown>;
  };
  const filtered = await play((run) => run.complete({ finish: 'content-filter' }));
  const details = { type: 'refusal', category: null, explanation: null };
  assert.deepEqual([filtered.stop_reason, filtered.stop_details, filtered.content], ['refusal', details, []]);
  const missing = await play((run) => run.complete({ finish: 'tool-calls' }));
  assert.equal(missing.stop_reason, 'end_turn');
});

test('a stop sequence is named where the upstream names it', async () => {
  await using lab = await openHttpLab();
  for (const [said, expected] of [
    [{ stop_reason: 'END' }, ['stop_sequence', 'END']],
    [{ matched_stop: 'END' }, ['stop_sequence', 'END']],
    [{ stop_reason: 151645 }, ['end_turn', null]],
  ] as const) {
    lab.edge.script = (run) => {
      run.chunk({ choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop', ...said }] });
      run.complete();
    };
    const message = (await (await lab.post('/v1/messages', plain)).json()) as Record<string, unknown>;
    assert.deepEqual([message.stop_reason, message.stop_sequence], expected);
  }
});

test('tools that cannot be served are named in the head and in the message', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => run.complete();
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
  for (const stream of [false, true]) {
    const response = await lab.post('/v1/messages', { ...plain, tools, stream });
    const name = 'web_search (web_search_20250305)';
    assert.equal(response.headers.get('x-iop-unsupported-tools'), name);
    assert.ok((await response.text()).includes(`"iop_unsupported_tools":["${name}"]`));
  }
});

test('M1: a failure before the first content has a status, and one of the upstream its own', async () => {
  await using lab = await openHttpLab();
  const post = (script: (run: ScriptedRun) => void) => {
    lab.edge.script = script;
    return lab.post('/v1/messages', streamed);
  };
  const loading = (run: ScriptedRun) => {
    run.emit({ kind: 'progress', message: 'loading' });
    run.chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] });
    run.fail();
  };
  const failed = await errorOf(await post(loading));
  assert.deepEqual(failed, [503, 'overloaded_error', 'node.lost']);
  const upstream = { status: 429, body: Buffer.from('{"error":{"message":"busy","code":"slow"}}') };
  const busy = await errorOf(await post((run) => run.fail({ kind: 'exhausted', upstream })));
  assert.deepEqual(busy, [429, 'rate_limit_error', 'slow']);
  const said = await errorOf(await post((run) => run.chunk({ error: { message: 'broken', code: 'x' } })));
  assert.deepEqual(said, [502, 'api_error', 'x']);
});

test('M2: a message that broke off is an error event at its end', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'text', text: 'half' });
    run.raw('data: {"choices"', true);
    run.complete();
  };
  const text = await (await lab.post('/v1/messages', streamed)).text();
  const types = ['message_start', 'content_block_start', 'content_block_delta', 'error'];
  assert.deepEqual(typesOf(text), types);
});

test('M3: a silent model is bridged by pings, and a failure after them is an event', async () => {
  const clock = createHttpClock();
  await using lab = await openHttpLab({ clock });
  const client = await connectRaw(lab.port);
  const headers = { 'x-api-key': goodKey, 'content-type': 'application/json' };
  client.send(rawRequest({ path: '/v1/messages', headers, body: JSON.stringify(streamed) }));
  const run = await lab.edge.run(0);
  clock.advance(9_999);
  assert.equal(client.received(), '');
  clock.advance(1);
  await client.until(/event: message_start\n.*\n\nevent: ping\n/s);
  clock.advance(15_000);
  await client.until(/ping.*ping.*ping.*ping/s);
  run.fail();
  const text = await client.until(/event: error\n.*node\.lost/s);
  assert.match(text, /^HTTP\/1\.1 200 /);
  client.destroy();
});

test('a run that may go on is not cancelled by its caller, any other one is', async () => {
  await using lab = await openHttpLab();
  for (const [index, wish] of ['continue', 'cancel'].entries()) {
    const client = await connectRaw(lab.port);
    const headers = { 'x-api-key': goodKey, 'x-iop-on-disconnect': wish, 'idempotency-key': wish };
    client.send(rawRequest({ path: '/v1/messages', headers, body: JSON.stringify(streamed) }));
    const run = await lab.edge.run(index);
    run.emit({ kind: 'text', text: 'a' });
    await client.until(/text_delta/);
    client.destroy();
    if (wish === 'cancel') assert.equal(await run.cancelled, 'caller');
  }
  assert.deepEqual((await lab.edge.run(0)).cancels, []);
  const { asked = new Uint8Array() } = (await lab.edge.run(0)).intent;
  assert.equal(Buffer.from(asked).toString(), JSON.stringify(streamed));
});

test('who cannot count is not asked again for a while', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.fail({ upstream: { status: 404, body: Buffer.from('not here') } });
  };
  const count = () => lab.post('/v1/messages/count_tokens', { model: 'qwen', messages });
  for (let turn = 0; turn < 2; turn++) {
    const response = await count();
    assert.equal(response.headers.get('x-iop-estimated'), 'true');
    assert.ok(((await response.json()) as { input_tokens: number }).input_tokens > 0);
  }
  assert.equal(lab.edge.runs.length, 1);
  lab.edge.refusal = { kind: 'unknown-target', asked: 'qwem', nearest: [] };
  const unknown = await lab.post('/v1/messages/count_tokens', { model: 'qwem', messages });
  assert.deepEqual(await errorOf(unknown), [404, 'not_found_error', 'model_not_found']);
});
