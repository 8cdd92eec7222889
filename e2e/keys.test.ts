// What API keys may do, and what they used: from `iop keys` to the caller's answer.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ChatInit, chat } from './harness/chat.ts';
import type { Edge } from './harness/edge.ts';
import { eventually } from './harness/eventually.ts';
import { type Answer, call } from './harness/http.ts';
import { iop, iopJson } from './harness/iop.ts';
import { openWorld, type World } from './harness/world.ts';

const limit = { timeout: 90_000 };
const endless = '<mock>{"text":"one two","stall":{"at":1}}</mock>';

interface Key {
  key: { id: string };
  secret: string;
}

describe('keys', () => {
  const world: World = openWorld();
  let edge: Edge;
  before(async () => {
    edge = await world.edge({
      adapters: [
        {
          name: 'mock',
          kind: 'mock',
          nodes: ['*'],
          breaker: true,
          targets: [{ name: 'echo' }, { name: 'other' }],
        },
      ],
      models: [{ name: 'fast', routes: [{ name: 'echo', weight: 2 }, { name: 'other' }] }],
    });
    await world.node(edge, { name: 'n1' });
  }, limit);
  after(() => world.close());

  const create = (...flags: string[]) => iopJson<Key>(edge, 'keys', 'create', 'story', ...flags);
  const ask = (secret: string, init: ChatInit = {}) =>
    chat(edge, { model: 'echo', ...init, headers: { authorization: `Bearer ${secret}` } });
  const errorOf = ({ text }: Answer) =>
    (JSON.parse(text) as { error: { code: string; message: string } }).error;
  const models = async (secret: string, path = '') =>
    call({ url: `${edge.url}/v1/models${path}`, headers: { authorization: `Bearer ${secret}` } }).answer;

  test(
    'a key over its rate is refused with 429 and Retry-After, until the rate is lifted',
    limit,
    async () => {
      const { key, secret } = await create('--rate', '2/h');
      for (let i = 0; i < 2; i++) assert.equal((await ask(secret).answer).status, 200);
      const refused = await ask(secret).answer;
      assert.equal(refused.status, 429);
      assert.equal(errorOf(refused).code, 'rate_limit_exceeded');
      assert.match(errorOf(refused).message, /2 runs an hour/);
      const seconds = Number(refused.headers['retry-after']);
      assert.ok(seconds > 1700 && seconds <= 1800, `${seconds}`);
      assert.equal((await iop(edge, 'keys', 'set', key.id, '--rate', 'none')).code, 0);
      assert.equal((await ask(secret).answer).status, 200);
    },
  );

  test('a key over its concurrency waits in the queue and is answered', limit, async () => {
    const { key, secret } = await create('--concurrency', '1');
    const first = ask(secret, { prompt: endless, stream: true });
    await eventually('it began', 20_000, () => first.text !== '');
    const second = ask(secret);
    await eventually('the second waits', 20_000, async () => {
      const { keys } = await iopJson<{ keys: { id: string; running: number }[] }>(edge, 'keys');
      const { targets } = await iopJson<{ targets: { name: string; queued: number }[] }>(edge, 'targets');
      const waits = targets.some(({ name, queued }) => name === 'echo' && queued === 1);
      return waits && keys.find(({ id }) => id === key.id)?.running === 1;
    });
    assert.equal((await ask(edge.apiKey).answer).status, 200, 'and holds up nobody else');
    first.hangUp();
    assert.equal((await second.answer).status, 200);
  });

  test('a key may only use what its policy names, and is shown no more', limit, async () => {
    const { secret } = await create('--targets', 'echo');
    assert.equal((await ask(secret).answer).status, 200);
    const refused = await ask(secret, { model: 'other' }).answer;
    assert.deepEqual([refused.status, errorOf(refused).code], [403, 'model_not_allowed']);
    assert.equal(
      (await ask(secret, { model: 'fast' }).answer).status,
      403,
      'an alias with something else behind it',
    );
    const list = JSON.parse((await models(secret)).text) as { data: { id: string }[] };
    assert.deepEqual(
      list.data.map(({ id }) => id),
      ['echo'],
    );
    assert.deepEqual(
      [(await models(secret, '/echo')).status, (await models(secret, '/other')).status],
      [200, 404],
    );
  });

  test(
    'an expired key is refused in words of its own, and lives again when it is prolonged',
    limit,
    async () => {
      const { key, secret } = await create('--expires', '1s');
      const refused = await eventually('it expires', 20_000, async () => {
        const answer = await ask(secret).answer;
        return answer.status === 401 ? answer : undefined;
      });
      assert.match(errorOf(refused).message, new RegExp(`\\(${key.id}\\) expired on `));
      assert.match((await iop(edge, 'keys')).out, new RegExp(`^${key.id} +story +expired`, 'm'));
      await iop(edge, 'keys', 'set', key.id, '--expires', '30d');
      assert.equal((await ask(secret).answer).status, 200);
    },
  );

  test('limits outlive a restart of the Edge, and usage is as exact as before', limit, async () => {
    const { key, secret } = await create('--targets', 'echo,fast', '--concurrency', '3');
    const usage = { prompt_tokens: 7, completion_tokens: 11 };
    const prompt = `<mock>${JSON.stringify({ text: 'hi', usage })}</mock>`;
    for (let i = 0; i < 4; i++) await ask(secret, { prompt, stream: i % 2 === 0 }).answer;
    await ask(secret, { prompt: '<mock>{"error":{"status":400}}</mock>' }).answer;
    const read = async () => {
      const { usage: rows } = await iopJson<{ usage: Record<string, unknown>[] }>(
        edge,
        'usage',
        '--since',
        '1d',
      );
      return rows.find(({ group }) => group === key.id);
    };
    const wanted = {
      name: 'story',
      runs: 5,
      failed: 1,
      cancelled: 0,
      promptTokens: 28,
      completionTokens: 44,
      estimated: 0,
      unmeasured: 1,
    };
    assert.deepEqual(await read(), { group: key.id, ...wanted });
    await edge.program.stop();
    await edge.start();
    await edge.nodesReady(['n1']);
    assert.deepEqual(await read(), { group: key.id, ...wanted });
    assert.equal((await ask(secret, { model: 'other' }).answer).status, 403);
    assert.match((await iop(edge, 'usage', '--by', 'model')).out, /^echo +\d+/m);
    assert.match((await iop(edge, 'usage', '--by', 'node')).out, /^n1 +\d+/m);
  });

  test('a run tells why it went where it went: to its caller and to an operator', limit, async () => {
    const { headers } = await ask(edge.apiKey, { model: 'fast' }).answer;
    const runId = String(headers['x-iop-run']);
    assert.match(String(headers['x-iop-route']), /^alias fast: 1st choice, by weight [12]$/);
    await edge.runEnded(runId);
    const { run } = await iopJson<{ run: { route: string } }>(edge, 'runs', runId);
    assert.equal(run.route, headers['x-iop-route']);
    assert.match((await iop(edge, 'runs', runId)).out, /^why there +alias fast: 1st choice/m);
    const missing = await iop(edge, 'runs', `run_${'0'.repeat(26)}`);
    assert.deepEqual([missing.code === 0, /no run run_0+ is known/.test(missing.err)], [false, true]);
  });

  test('a target that fails again and again is left alone, and 503 says until when', limit, async () => {
    const fail = { model: 'other', prompt: '<mock>{"error":{"status":500}}</mock>' };
    for (let i = 0; i < 5; i++) assert.equal((await ask(edge.apiKey, fail).answer).status, 500);
    const refused = await ask(edge.apiKey, { model: 'other' }).answer;
    assert.equal(refused.status, 503);
    assert.match(
      errorOf(refused).message,
      /breaker open for \d s \(5 failures in a row, the last upstream.status\)/,
    );
    assert.match(String(refused.headers['retry-after']), /^[12]$/);
    assert.match((await iop(edge, 'targets')).out, /^other .*n1: breaker open/m);
    const { headers } = await ask(edge.apiKey, { model: 'fast' }).answer;
    assert.match(String(headers['x-iop-route']), /kept away by breakers/);
    await eventually('it may try again', 20_000, async () =>
      (await ask(edge.apiKey, { model: 'other' }).answer).status === 200 ? true : undefined,
    );
  });

  test('targets that appear are said in the log with their Node and adapter', limit, async () => {
    assert.ok(
      edge.program.lines.some(
        (line) => /"target appeared"/.test(line) && /"n1"/.test(line) && /"mock"/.test(line),
      ),
    );
  });
});
