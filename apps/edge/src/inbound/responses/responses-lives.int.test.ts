import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, createHttpClock, type HttpLab, openHttpLab } from '../../testing/http-lab.ts';
import { connectRaw, rawRequest } from '../../testing/raw-client.ts';
import { readResponseEvents } from '../../testing/response-events.ts';
import { goodKey } from '../../testing/scripted-edge.ts';

const ask = { model: 'qwen', input: 'hi' };
const path = '/v1/responses';
const head = { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' };

interface Seen {
  id: string;
  status: string;
  store: boolean;
  error?: { code: string };
}

async function json(answer: Promise<Response>): Promise<Seen & { code: number }> {
  const response = await answer;
  return { ...((await response.json()) as Seen), code: response.status };
}

/** Sends a request whose connection the test holds. */
async function hang(lab: HttpLab, body: object, headers: Record<string, string> = {}) {
  const caller = await connectRaw(lab.port);
  caller.send(rawRequest({ path, headers: { ...head, ...headers }, body: JSON.stringify(body) }));
  return caller;
}

for (const [what, headers] of [
  ['', {}],
  ['with an Idempotency-Key ', { 'idempotency-key': 'k' }],
] as const) {
  for (const stream of [true, false]) {
    test(`a caller that leaves ${what}cancels its run, ${stream ? 'streaming' : 'waiting'}, in every phase`, async () => {
      await using lab = await openHttpLab();
      for (const [index, phase] of ['queued', 'dispatched', 'in the middle'].entries()) {
        const own = 'idempotency-key' in headers ? { 'idempotency-key': `k${index}` } : {};
        const caller = await hang(lab, { ...ask, stream }, own);
        const run = await lab.edge.run(index);
        if (phase !== 'queued') run.dispatch();
        if (phase === 'in the middle') run.emit({ kind: 'text', text: 'half' });
        if (phase === 'in the middle' && stream) await caller.until(/half/);
        // a caller that is known only after the run began is still its owner
        await new Promise((resolve) => setImmediate(resolve));
        caller.destroy();
        assert.equal(await run.cancelled, 'caller', phase);
        run.end({ kind: 'cancelled', by: 'caller' });
      }
    });
  }
}

test('a caller that leaves while its run is still being opened was its owner all the same', async () => {
  await using lab = await openHttpLab();
  const { open } = lab.edge;
  const { promise: isGone, resolve: gone } = Promise.withResolvers<void>();
  lab.edge.open = async (...asked) => {
    await isGone;
    return open(...asked);
  };
  const caller = await hang(lab, ask, { 'idempotency-key': 'k' });
  const run = await lab.edge.run(0);
  caller.destroy();
  // answered after the door has heard of it
  await lab.get('/healthz');
  await lab.get('/healthz');
  gone();
  assert.equal(await run.cancelled, 'caller');
});

test('a caller that leaves a background stream does not end it', async () => {
  await using lab = await openHttpLab();
  const caller = await hang(lab, { ...ask, stream: true, background: true });
  await caller.until(/response\.queued/s);
  caller.destroy();
  const run = await lab.edge.run(0);
  run.dispatch();
  run.emit({ kind: 'text', text: 'all' });
  run.complete();
  assert.deepEqual(run.cancels, []);
  const kept = await json(lab.get(`${path}/${idOf(run.id)}`));
  assert.equal(kept.status, 'completed');
});

test('x-iop-on-disconnect: continue keeps an answer that nobody waits for', async () => {
  await using lab = await openHttpLab();
  const caller = await hang(lab, ask, { 'x-iop-on-disconnect': 'continue' });
  const run = await lab.edge.run(0);
  caller.destroy();
  run.complete();
  assert.equal((await json(lab.get(`${path}/${idOf(run.id)}`))).status, 'completed');
  const refused = await json(lab.post(path, { ...ask, store: false }, { 'x-iop-on-disconnect': 'continue' }));
  assert.equal(refused.code, 400);
});

test('the head waits for content, then for firstByteMs; after it comments keep the stream alive', async () => {
  const clock = createHttpClock();
  await using lab = await openHttpLab({ clock });
  const caller = await hang(lab, { ...ask, stream: true });
  const run = await lab.edge.run(0);
  run.dispatch();
  clock.advance(9_999);
  assert.equal(caller.received(), '');
  clock.advance(1);
  await caller.until(/200 OK.*response\.created.*response\.in_progress/s);
  clock.advance(15_000);
  await caller.until(/\n: keep-alive\n\n/);
  run.fail();
  const text = await caller.until(/response\.failed/);
  assert.match(text, /"code":"server_error"/);
});

test('a background stream has its head at once', async () => {
  const clock = createHttpClock();
  await using lab = await openHttpLab({ clock });
  const caller = await hang(lab, { ...ask, stream: true, background: true });
  await caller.until(/200 OK.*x-iop-run: run_.*response\.queued/s);
  caller.destroy();
});

test('an Idempotency-Key: a repeat gets the same events, another body is refused', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'text', text: 'once' });
    run.complete();
  };
  const keyed = { 'idempotency-key': 'k1' };
  const texts: string[] = [];
  for (let time = 0; time < 2; time++)
    texts.push(await (await lab.post(path, { ...ask, stream: true }, keyed)).text());
  assert.equal(texts[0], texts[1]);
  assert.equal(lab.edge.runs.length, 1);
  const other = await json(lab.post(path, { ...ask, input: 'other', stream: true }, keyed));
  assert.deepEqual([other.code, other.error?.code], [409, 'idempotency_key_reused']);
  const queued = await json(lab.post(path, { ...ask, background: true }, { 'idempotency-key': 'k2' }));
  const again = await json(lab.post(path, { ...ask, background: true }, { 'idempotency-key': 'k2' }));
  assert.deepEqual([queued.status, again.status, again.id], ['queued', 'completed', queued.id]);
});

test('a cursor behind the newest event waits while the run runs, and is refused when it has ended', async () => {
  await using lab = await openHttpLab();
  const { id } = await json(lab.post(path, { ...ask, background: true }));
  const run = await lab.edge.run(0);
  run.dispatch();
  const waiting = lab.get(`${path}/${id}?stream=true&starting_after=4`);
  run.emit({ kind: 'text', text: 'a' }, { kind: 'text', text: 'b' });
  run.complete();
  const [first] = readResponseEvents(await (await waiting).text());
  assert.deepEqual([first?.sequence_number, first?.delta], [5, 'a']);
  const beyond = await json(lab.get(`${path}/${id}?stream=true&starting_after=99`));
  assert.deepEqual([beyond.code, beyond.error?.code], [400, 'invalid_value']);
  for (const bad of ['x', '-2', '1.5', ''])
    assert.equal((await lab.get(`${path}/${id}?stream=true&starting_after=${bad}`)).status, 400, bad);
});

test('unknown, unkept and other keys’ responses look the same', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => run.complete();
  const unkept = await json(lab.post(path, { ...ask, store: false }));
  assert.equal(unkept.store, false);
  const kept = await json(lab.post(path, ask));
  const unknown = [`${path}/resp_${'0'.repeat(24)}zz`, `${path}/resp_1`, `${path}/${unkept.id}`];
  const asAnother = async (run: () => Promise<void>) => {
    lab.edge.keyCheck = { kind: 'valid', keyId: 'other' };
    await run();
    lab.edge.keyCheck = undefined;
  };
  const checkAll = async (url: string) => {
    const answers = [
      await lab.get(url),
      await lab.get(`${url}?stream=true`),
      await lab.get(`${url}/input_items`),
      await lab.post(`${url}/cancel`, {}),
      await fetch(`${lab.url}${url}`, { method: 'DELETE', headers: bearer }),
    ];
    for (const answer of answers) assert.equal(answer.status, 404, url);
    const chained = await json(lab.post(path, { ...ask, previous_response_id: url.split('/').at(-1) }));
    assert.deepEqual([chained.code, chained.error?.code], [400, 'previous_response_not_found']);
  };
  for (const url of unknown) await checkAll(url);
  await asAnother(() => checkAll(`${path}/${kept.id}`));
  assert.equal((await lab.get(`${path}/${kept.id}`)).status, 200);
});

test('only what runs in the background can be cancelled by its id', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => run.complete();
  const { id } = await json(lab.post(path, ask));
  const refused = await json(lab.post(`${path}/${id}/cancel`, {}));
  assert.deepEqual([refused.code, refused.error?.code], [400, 'response_not_background']);
  const done = await json(lab.post(path, { ...ask, background: true }));
  assert.equal((await json(lab.post(`${path}/${done.id}/cancel`, {}))).status, 'completed');
});

test('where nothing may be kept, what needs keeping is refused and nothing else is kept', async () => {
  await using lab = await openHttpLab();
  lab.edge.mayStore = () => false;
  lab.edge.script = (run) => run.complete();
  for (const wish of [{ store: true }, { background: true }, { previous_response_id: 'resp_1' }]) {
    const refused = await json(lab.post(path, { ...ask, ...wish }));
    assert.deepEqual([refused.code, refused.error?.code], [400, 'unsupported_value'], JSON.stringify(wish));
  }
  assert.equal((await json(lab.post(path, ask))).store, false);
  assert.equal(lab.edge.runs[0]?.intent.stored, false);
});

function idOf(runId: string): string {
  return runId.replace('run_', 'resp_');
}
