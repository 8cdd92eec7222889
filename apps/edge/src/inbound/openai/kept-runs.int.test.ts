import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, openHttpLab } from '../../testing/http-lab.ts';
import type { ScriptedRun } from '../../testing/scripted-edge.ts';

const streamed = { model: 'qwen', stream: true, messages: [{ role: 'user', content: 'hi' }] };
const whole = { ...streamed, stream: false };
const detached = { 'x-iop-on-disconnect': 'continue' };
const chunk = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });

function sayThree(run: ScriptedRun): void {
  run.dispatch();
  run.raw(`data: ${JSON.stringify(chunk('a'))}\n\ndata: ${JSON.stringify(chunk('b'))}\n\n`);
  run.chunk(chunk('c'));
}

/** The stream up to the event with that number. */
function upTo(stream: string, number: number): string {
  const at = stream.search(new RegExp(`^(id: ${number + 1}|data: .DONE.)$`, 'm'));
  return at < 0 ? stream : stream.slice(0, at);
}

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code;
}

test('every event of a stream has its number, and [DONE] has none', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    sayThree(run);
    run.complete();
  };
  const text = await (await lab.chat(streamed)).text();
  assert.deepEqual(text.match(/^id: \d+$/gm), ['id: 1', 'id: 2', 'id: 3']);
  assert.ok(text.endsWith('\n\ndata: [DONE]\n\n'));
});

test('a caller that leaves does not end a run that is to go on; the rest is shown after Last-Event-ID, byte for byte', async () => {
  await using lab = await openHttpLab();
  const leaving = new AbortController();
  lab.edge.script = sayThree;
  const first = await lab.chat(streamed, detached, leaving.signal);
  const run = await lab.edge.run(0);
  const reader = first.body?.getReader();
  await reader?.read();
  const id = first.headers.get('x-iop-run') ?? '';
  leaving.abort();
  await reader?.read().catch(() => {});
  run.chunk(chunk('d'));
  run.complete();
  const all = await (await lab.get(`/v1/chat/completions/${id}`)).text();
  assert.deepEqual(
    all.match(/"content":"."/g),
    ['a', 'b', 'c', 'd'].map((text) => `"content":"${text}"`),
  );
  for (const number of [0, 1, 2, 3, 4]) {
    const headers = number === 0 ? bearer : { ...bearer, 'last-event-id': String(number) };
    const rest = await (await lab.get(`/v1/chat/completions/${id}`, headers)).text();
    assert.equal((number === 0 ? '' : upTo(all, number)) + rest, all, `after ${number}`);
  }
  assert.deepEqual(run.cancels, []);
});

test('text of an adapter without a dialect is told again with the same ids', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.dispatch();
    run.emit({ kind: 'text', text: 'one' }, { kind: 'text', text: ' two' });
    run.complete();
  };
  const first = await lab.chat(streamed, detached);
  const text = await first.text();
  const again = await lab.get(`/v1/chat/completions/${first.headers.get('x-iop-run')}`);
  assert.equal(await again.text(), text);
});

test('a run that was not streamed is shown whole, as often as it is asked for', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.dispatch();
    run.raw('{"id":"x"}');
    run.complete();
  };
  const first = await lab.chat(whole, detached);
  assert.deepEqual(await first.json(), { id: 'x' });
  const again = await lab.get(`/v1/chat/completions/${first.headers.get('x-iop-run')}`);
  assert.deepEqual(await again.json(), { id: 'x' });
});

test('one Idempotency-Key is one run: the repeat is shown it from the first event, another body is a conflict', async () => {
  await using lab = await openHttpLab();
  const headers = { 'idempotency-key': 'k-1' };
  const [first, second] = [lab.chat(streamed, headers), lab.chat(streamed, headers)];
  const run = await lab.edge.run(0);
  sayThree(run);
  run.complete();
  const texts = [await (await first).text(), await (await second).text()];
  assert.equal(texts[0], texts[1]);
  assert.equal((await first).headers.get('idempotent-replayed'), null);
  assert.equal((await second).headers.get('idempotent-replayed'), 'true');
  const other = await lab.chat({ ...streamed, temperature: 1 }, headers);
  assert.equal(other.status, 409);
  assert.equal(other.headers.get('x-should-retry'), 'false');
  assert.equal(await codeOf(other), 'idempotency_key_reused');
  assert.equal(lab.edge.runs.length, 1);
});

test('an attached run with a key is cancelled when its last owner has left', async () => {
  await using lab = await openHttpLab();
  const headers = { 'idempotency-key': 'k-1' };
  const [one, two] = [new AbortController(), new AbortController()];
  lab.edge.script = sayThree;
  const first = await lab.chat(streamed, headers, one.signal);
  const second = await lab.chat(streamed, headers, two.signal);
  const run = await lab.edge.run(0);
  one.abort();
  await first.text().catch(() => {});
  assert.deepEqual(run.cancels, []);
  two.abort();
  await second.text().catch(() => {});
  assert.equal(await run.cancelled, 'caller');
});

test('a run is cancelled by its id', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = sayThree;
  const first = await lab.chat(streamed, detached);
  const id = first.headers.get('x-iop-run');
  const response = await lab.post(`/v1/chat/completions/${id}/cancel`, '');
  assert.deepEqual(await response.json(), { id, object: 'iop.run', status: 'stopping' });
  const run = await lab.edge.run(0);
  assert.deepEqual(run.cancels, ['caller']);
  run.end({ kind: 'cancelled', by: 'caller' });
  assert.match(await first.text(), /"code":"run.cancelled-by-caller"/);
});

test('bad wishes and unknown runs are refused in words', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => run.complete();
  const refusals = [
    [{ 'x-iop-on-disconnect': 'perhaps' }, 'invalid_value'],
    [{ 'idempotency-key': 'a b' }, 'invalid_idempotency_key'],
    [{ 'idempotency-key': 'x'.repeat(256) }, 'invalid_idempotency_key'],
    [{ 'last-event-id': 'seven' }, 'invalid_value'],
  ] as const;
  for (const [headers, code] of refusals) {
    const response = await lab.chat(whole, headers);
    assert.deepEqual([response.status, await codeOf(response)], [400, code]);
  }
  assert.equal((await lab.chat(whole, { 'x-iop-on-disconnect': 'cancel' })).status, 200);
  const unknown = await lab.get('/v1/chat/completions/run_00000000000000000000000099');
  assert.deepEqual([unknown.status, await codeOf(unknown)], [404, 'run_not_found']);
  lab.edge.mayStore = () => false;
  const refused = await lab.chat(whole, detached);
  assert.deepEqual([refused.status, await codeOf(refused)], [400, 'store_refused']);
});
