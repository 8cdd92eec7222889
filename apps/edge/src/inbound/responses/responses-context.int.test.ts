import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HttpLab, hello, openHttpLab } from '../../testing/http-lab.ts';

const path = '/v1/responses';

interface Seen {
  id: string;
  status: string;
  output: { id: string; type: string; encrypted_content?: string; content?: { text: string }[] }[];
  iop: { unsupported_tools?: object[] };
  error?: { code: string; param: string };
}

async function post(
  lab: HttpLab,
  body: object,
  url = path,
): Promise<Seen & { code: number; headers: Headers }> {
  const response = await lab.post(url, { model: 'qwen', ...body });
  return { ...((await response.json()) as Seen), code: response.status, headers: response.headers };
}

function messagesOf(lab: HttpLab, index: number): { role: string; content: unknown }[] {
  return JSON.parse(Buffer.from(lab.edge.runs[index]?.intent.body ?? []).toString()).messages;
}

async function openEcho(text = 'ok'): Promise<HttpLab> {
  const lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'text', text });
    run.complete();
  };
  return lab;
}

test('a chain of responses is told from its beginning, without the instructions of earlier ones', async () => {
  await using lab = await openEcho();
  const one = await post(lab, { instructions: 'First.', input: 'one' });
  const two = await post(lab, { instructions: 'Second.', input: 'two', previous_response_id: one.id });
  await post(lab, { input: 'three', previous_response_id: two.id });
  assert.deepEqual(
    messagesOf(lab, 2).map(({ role, content }) => `${role} ${content}`),
    ['user one', 'assistant ok', 'user two', 'assistant ok', 'user three'],
  );
});

test('a response that has not ended cannot be gone on from', async () => {
  await using lab = await openHttpLab();
  const running = await post(lab, { input: 'one', background: true });
  const refused = await post(lab, { input: 'two', previous_response_id: running.id });
  assert.deepEqual([refused.code, refused.error?.code], [409, 'previous_response_in_progress']);
});

test('an item is referred to by its id, in the chain or alone', async () => {
  await using lab = await openEcho();
  const one = await post(lab, { input: 'one' });
  const items = (await (await lab.get(`${path}/${one.id}/input_items`)).json()) as { data: { id: string }[] };
  const input = [
    { type: 'item_reference', id: items.data[0]?.id },
    { id: one.output[0]?.id },
    { role: 'user', content: 'two' },
  ];
  const two = await post(lab, { input });
  const told = ['user one', 'assistant ok', 'user two'];
  assert.deepEqual(
    messagesOf(lab, 1).map(({ role, content }) => `${role} ${content}`),
    told,
  );
  // what was referred to is part of the chain, too
  await post(lab, { input: 'three', previous_response_id: two.id });
  assert.deepEqual(
    messagesOf(lab, 2).map(({ role, content }) => `${role} ${content}`),
    [...told, 'assistant ok', 'user three'],
  );
  const missing = await post(lab, { input: [{ type: 'item_reference', id: 'msg_1' }] });
  assert.deepEqual(
    [missing.code, missing.error?.code, missing.error?.param],
    [400, 'item_not_found', 'input[0].id'],
  );
});

test('tools that cannot be served are named in the head and in the body, streaming or not', async () => {
  await using lab = await openEcho();
  const tools = [{ type: 'web_search' }, { type: 'mcp', server_label: 's' }, { type: 'function', name: 'f' }];
  const whole = await post(lab, { input: 'hi', tools });
  assert.equal(whole.headers.get('x-iop-unsupported-tools'), 'web_search, mcp');
  assert.deepEqual(whole.iop.unsupported_tools, [{ type: 'web_search' }, { type: 'mcp' }]);
  const stream = await lab.post(path, { model: 'qwen', input: 'hi', tools, stream: true });
  assert.equal(stream.headers.get('x-iop-unsupported-tools'), 'web_search, mcp');
  const text = await stream.text();
  assert.equal(text.split('"unsupported_tools":[{"type":"web_search"},{"type":"mcp"}]').length, 4);
});

test('a conversation is compacted by the model, and goes on from what came of it', async () => {
  await using lab = await openEcho('They agreed on Tuesday.');
  const input = [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content: 'On Tuesday.' },
  ];
  const compacted = await post(lab, { input, instructions: 'Be kind.' }, `${path}/compact`);
  assert.deepEqual(
    compacted.output.map(({ type }) => type),
    ['message', 'compaction'],
  );
  assert.match(String(messagesOf(lab, 0).at(-1)?.content), /^Summarise our conversation/);
  await post(lab, { input: [...compacted.output, { role: 'user', content: 'Sure?' }] });
  assert.deepEqual(
    messagesOf(lab, 1).map(({ content }) => String(content).split('\n').at(-1)),
    ['When?', 'They agreed on Tuesday.', 'Sure?'],
  );
  assert.equal((await post(lab, { model: undefined, input }, `${path}/compact`)).code, 400);
});

test('a summary that was cut is no summary', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'text', text: 'They ag' });
    run.complete({ finish: 'length' });
  };
  const refused = await post(lab, { input: 'hi' }, `${path}/compact`);
  assert.deepEqual([refused.code, refused.error?.code], [502, 'compaction.incomplete']);
});

test('a chat that was kept is found here, too: what was asked, what was answered', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    const message = { role: 'assistant', content: 'whole' };
    if (run.intent.stream) run.chunk({ choices: [{ index: 0, delta: { content: 'streamed' } }] });
    else run.raw(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
    run.complete();
  };
  const texts: unknown[] = [];
  for (const [index, stream] of [true, false].entries()) {
    await (await lab.chat({ ...hello, stream }, { 'x-iop-on-disconnect': 'continue' })).text();
    const id = lab.edge.runs[index]?.id.replace('run_', 'resp_');
    const kept = (await (await lab.get(`${path}/${id}`)).json()) as Seen;
    texts.push([kept.status, kept.output[0]?.content?.[0]?.text]);
    const items = (await (await lab.get(`${path}/${id}/input_items`)).json()) as {
      data: { content: object[] }[];
    };
    assert.deepEqual(items.data[0]?.content, [{ type: 'input_text', text: 'hello' }]);
  }
  assert.deepEqual(texts, [
    ['completed', 'streamed'],
    ['completed', 'whole'],
  ]);
});

test('paths below that mean nothing are unknown, methods that are not there are named', async () => {
  await using lab = await openHttpLab();
  for (const url of [`${path}/resp_1/other`, `${path}/resp_1/input_items/x`])
    assert.equal((await lab.get(url)).status, 404, url);
  assert.equal((await lab.post(`${path}/resp_1`, {})).status, 404);
  const wrong = await fetch(`${lab.url}${path}`, { method: 'PUT' });
  assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'POST, OPTIONS']);
});
