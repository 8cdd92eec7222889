import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI, { APIError, NotFoundError } from 'openai';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { type HttpLab, openHttpLab } from '../../testing/http-lab.ts';
import { goodKey, type ScriptedRun } from '../../testing/scripted-edge.ts';

const weather = {
  type: 'function' as const,
  name: 'weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
};
const usage = { promptTokens: 3, completionTokens: 2, estimated: false };

function clientOf(lab: HttpLab): OpenAI {
  return new OpenAI({ baseURL: `${lab.url}/v1`, apiKey: goodKey, maxRetries: 0 });
}

function playCalls(run: ScriptedRun): void {
  run.dispatch();
  run.emit({ kind: 'reasoning', text: 'hm' }, { kind: 'text', text: 'Look' }, { kind: 'text', text: 'ing.' });
  run.emit({ kind: 'tool-call', index: 0, id: 'call_a', name: 'weather', argumentsJson: '{"city":' });
  run.emit({ kind: 'tool-call', index: 1, id: 'call_b', name: 'weather', argumentsJson: '{"city":"Bonn"}' });
  run.emit({ kind: 'tool-call', index: 0, id: 'call_a', name: 'weather', argumentsJson: '"Oslo"}' });
  run.complete({ finish: 'tool-calls', usage });
}

function callsOf({ output }: Response): string[] {
  return output.flatMap((item) =>
    item.type === 'function_call' ? [`${item.call_id} ${item.arguments}`] : [],
  );
}

const calls = ['call_a {"city":"Oslo"}', 'call_b {"city":"Bonn"}'];

test('a whole response: text, calls, usage', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = playCalls;
  const response = await clientOf(lab).responses.create({ model: 'qwen', input: 'hi', tools: [weather] });
  assert.deepEqual([response.status, response.output_text], ['completed', 'Looking.']);
  assert.deepEqual(callsOf(response), calls);
  assert.deepEqual([response.usage?.input_tokens, response.usage?.total_tokens], [3, 5]);
});

test('the accumulator of the official client builds the same response from the stream', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = playCalls;
  const stream = clientOf(lab).responses.stream({ model: 'qwen', input: 'hi', tools: [weather] });
  const deltas: string[] = [];
  stream.on('response.output_text.delta', (event) => deltas.push(event.delta));
  const response = await stream.finalResponse();
  assert.deepEqual(deltas, ['Look', 'ing.']);
  assert.deepEqual(callsOf(response as Response), calls);
  const kept = await clientOf(lab).responses.retrieve(response.id);
  assert.deepEqual(plain(kept.output), plain(response.output));
});

test('structured output is parsed', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'text', text: '{"a":1}' });
    run.complete();
  };
  const format = { type: 'json_schema' as const, name: 'a', schema: { type: 'object' } };
  const ask = { model: 'qwen', input: 'hi', text: { format } };
  const response = await clientOf(lab).responses.parse(ask);
  assert.deepEqual(response.output_parsed, { a: 1 });
});

test('in the background: queued at once, polled, cancelled, deleted', async () => {
  await using lab = await openHttpLab();
  const { responses } = clientOf(lab);
  const queued = await responses.create({ model: 'qwen', input: 'hi', background: true });
  assert.equal(queued.status, 'queued');
  const run = await lab.edge.run(0);
  run.dispatch();
  run.emit({ kind: 'text', text: 'half' });
  const running = await responses.retrieve(queued.id);
  assert.deepEqual([running.status, running.output_text], ['in_progress', 'half']);
  await assert.rejects(responses.delete(queued.id), /still running/);
  void run.cancelled.then((by) => run.end({ kind: 'cancelled', by }));
  for (let time = 0; time < 2; time++) {
    const cancelled = await responses.cancel(queued.id);
    assert.deepEqual([cancelled.status, cancelled.error, cancelled.output.length], ['cancelled', null, 1]);
  }
  await responses.delete(queued.id);
  await assert.rejects(responses.retrieve(queued.id), NotFoundError);
});

test('a background stream is resumed after any of its events', async () => {
  await using lab = await openHttpLab();
  const { responses } = clientOf(lab);
  lab.edge.script = playCalls;
  const ask = { model: 'qwen', input: 'hi', tools: [weather], background: true, stream: true as const };
  const whole = await collect(await responses.create(ask));
  const types = whole.slice(0, 3).map(({ type }) => type);
  assert.deepEqual(types, ['response.created', 'response.queued', 'response.in_progress']);
  const id = idOf(whole);
  for (const event of whole) {
    const after = event.sequence_number;
    const rest = await collect(await responses.retrieve(id, { stream: true, starting_after: after }));
    assert.deepEqual(rest, whole.slice(after + 1));
  }
  const replayed = await responses.stream({ response_id: id, starting_after: 4 }).finalResponse();
  assert.deepEqual(callsOf(replayed as Response), calls);
});

test('input items come in pages', async () => {
  await using lab = await openHttpLab();
  const { responses } = clientOf(lab);
  lab.edge.script = (run) => run.complete();
  const input = ['a', 'b', 'c'].map((content) => ({ role: 'user' as const, content }));
  const { id } = await responses.create({ model: 'qwen', input });
  const seen: unknown[] = [];
  for await (const item of responses.inputItems.list(id, { limit: 2 })) seen.push(textIn(item));
  assert.deepEqual(seen, ['c', 'b', 'a']);
});

test('a conversation goes on from its previous response', async () => {
  await using lab = await openHttpLab();
  const { responses } = clientOf(lab);
  lab.edge.script = playCalls;
  const first = await responses.create({
    model: 'qwen',
    instructions: 'Once.',
    input: 'hi',
    tools: [weather],
  });
  const outputs = ['call_a', 'call_b'].map((id) => ({
    type: 'function_call_output' as const,
    call_id: id,
    output: 'sun',
  }));
  await responses.create({ model: 'qwen', previous_response_id: first.id, input: outputs });
  const body = JSON.parse(Buffer.from(lab.edge.runs[1]?.intent.body ?? []).toString());
  const roles = body.messages.map(({ role }: { role: string }) => role);
  assert.deepEqual(roles, ['user', 'assistant', 'tool', 'tool']);
  assert.deepEqual([body.messages[1].content, body.messages[1].tool_calls.length], ['Looking.', 2]);
});

test('a failure after the head throws, and the response says why', async () => {
  await using lab = await openHttpLab();
  const { responses } = clientOf(lab);
  lab.edge.script = (run) => {
    run.emit({ kind: 'text', text: 'half' });
    run.fail({ kind: 'exhausted', code: 'upstream.busy', message: 'Busy.', details: { retryAfterMs: 2000 } });
  };
  const events = await collect(await responses.create({ model: 'qwen', input: 'hi', stream: true }));
  const last = events.at(-1);
  assert.equal(last?.type, 'response.failed');
  const kept = await responses.retrieve(idOf(events));
  const error = { code: 'rate_limit_exceeded', message: 'Busy. Try again in 2s.' };
  assert.deepEqual([kept.status, kept.error], ['failed', error]);
  assert.deepEqual(last?.type === 'response.failed' && last.response.error, error);
});

test('a failure before any content is a status, streaming or not', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => run.fail({ code: 'node.lost' });
  for (const stream of [true, false]) {
    const asked = clientOf(lab).responses.create({ model: 'qwen', input: 'hi', stream });
    await assert.rejects(asked, (error) => error instanceof APIError && error.status === 503);
  }
});

async function collect(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

function idOf(events: readonly ResponseStreamEvent[]): string {
  const [first] = events;
  assert.ok(first?.type === 'response.created');
  return first.response.id;
}

function textIn(item: object): unknown {
  return 'content' in item && Array.isArray(item.content) ? item.content[0]?.text : undefined;
}

/** Without what the client adds to it. */
function plain(output: unknown): unknown {
  return JSON.parse(JSON.stringify(output, (name, value) => (/^parsed/.test(name) ? undefined : value)));
}
