// Programs as models: the official client → Edge → Node → a child, and back; stop means stop; nothing leaks.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { chat, readStream } from './harness/chat.ts';
import type { Edge } from './harness/edge.ts';
import { eventually } from './harness/eventually.ts';
import type { Node } from './harness/node.ts';
import { iopMain, isAlive } from './harness/up.ts';
import { openWorld, type World } from './harness/world.ts';

const limit = { timeout: 60_000 };
const secret = 'canary-9d41/+== end';

const sh = (script: string) => ({ program: '/bin/sh', args: ['-c', script] });
const lines = [
  '{"type":"text","text":"two "}',
  '{"type":"text","text":"parts"}',
  '{"type":"end","in":11,"out":2}',
];

/** Each child ends by itself within 25 s. */
const profiles: readonly { name: string; [key: string]: unknown }[] = [
  { name: 'cat', program: '/bin/cat' },
  { name: 'drip', ...sh('for i in 1 2 3 4 5; do echo $i; sleep 0.05; done') },
  {
    name: 'agent',
    ...sh(`cat >/dev/null; printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')}; exec sleep 25`),
    output: 'jsonl',
    field: 'text',
    where: { type: 'text' },
    end: { type: 'end' },
    usage: { prompt: 'in', completion: 'out' },
  },
  { name: 'long', ...sh('echo up; echo $$ > up; exec sleep 25') },
  { name: 'silent', ...sh('echo $$ > up; exec sleep 25') },
  { name: 'deaf', ...sh("trap '' TERM; echo up; for i in $(seq 500); do sleep 0.05; done"), grace: '300ms' },
  {
    name: 'leaky',
    ...sh('echo "$KEY"; printf %s "$KEY" | base64 >&2; echo "bad $KEY" >&2; exit 1'),
    env_pass: ['KEY'],
    output: 'jsonl',
    field: 'a',
  },
  { name: 'loud', ...sh('echo some; echo "key $KEY is wrong" >&2; exit 4'), env_pass: ['KEY'] },
];

describe('a program as a model', { timeout: 300_000 }, () => {
  let world: World;
  let edge: Edge;
  let node: Node;
  let client: OpenAI;
  let work: string;
  before(async () => {
    world = openWorld();
    work = join(world.dir, 'work');
    mkdirSync(work);
    const targets = profiles.map((profile) => ({ directory: work, ...profile }));
    edge = await world.edge({ adapters: [{ name: 'cli', kind: 'cli', targets }] });
    const allow = {
      adapters: ['cli'],
      programs: ['/bin/sh', '/bin/cat'],
      directories: [work],
      environment: ['KEY'],
    };
    node = await world.node(edge, { name: 'n1', allow, prefix: ['/usr/bin/env', `KEY=${secret}`] });
    client = new OpenAI({ baseURL: `${edge.url}/v1`, apiKey: edge.apiKey, maxRetries: 0 });
  });
  after(() => world?.close());

  const ask = (model: string, content = 'hello') => ({
    model,
    messages: [{ role: 'user' as const, content }],
  });
  const iop = (...args: string[]) =>
    spawnSync(process.execPath, [iopMain, ...args, '--socket', edge.socketPath], {
      encoding: 'utf8',
      timeout: 30_000,
    });

  test('is listed and answers, whole', limit, async () => {
    const names = [];
    for await (const model of client.models.list()) names.push(model.id);
    assert.deepEqual(names.toSorted(), profiles.map(({ name }) => name).toSorted());
    const answer = await client.chat.completions.create(ask('cat', 'say\n--this $(id)'));
    assert.equal(answer.choices[0]?.message.content, 'say\n--this $(id)');
    assert.equal(answer.choices[0]?.finish_reason, 'stop');
    assert.equal(answer.usage, undefined, 'nobody has counted');
  });

  test('streams as it puts out', limit, async () => {
    const stream = await client.chat.completions.create({ ...ask('drip'), stream: true });
    const pieces: string[] = [];
    for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta.content ?? '');
    assert.equal(pieces.join(''), '1\n2\n3\n4\n5\n');
    assert.ok(pieces.filter((piece) => piece !== '').length >= 4, `in ${pieces.length} pieces`);
  });

  test('tells its own usage, and is over with its end line', limit, async () => {
    const startedAt = performance.now();
    const answer = await client.chat.completions.create(ask('agent'));
    assert.equal(answer.choices[0]?.message.content, 'two parts');
    assert.deepEqual(answer.usage, { prompt_tokens: 11, completion_tokens: 2, total_tokens: 13 });
    assert.ok(performance.now() - startedAt < 10_000);
  });

  for (const stream of [true, false]) {
    test(
      `is given TERM within 250 ms of a hang-up, ${stream ? 'in mid-stream' : 'before a whole answer'}`,
      limit,
      async () => {
        rmSync(join(work, 'up'), { force: true });
        const asking = chat(edge, { model: stream ? 'long' : 'silent', stream });
        const pid = await eventually('the program is up', 10_000, readUp);
        if (stream)
          await eventually('a piece has come', 5_000, () => readStream(asking.text).content === 'up\n');
        // It ends by TERM at once; KILL would come only after 5 s.
        const hungUpAt = asking.hangUp();
        while (isAlive(pid) && performance.now() - hungUpAt < 4_000) await sleep(2);
        const tookMs = performance.now() - hungUpAt;
        assert.ok(tookMs <= 250, `it ended after ${tookMs} ms`);
        const run = await eventually('its record ends', 5_000, async () => {
          const [newest] = await edge.runs();
          return newest?.end && newest;
        });
        assert.deepEqual(run.end, { kind: 'cancelled', by: 'caller' });
      },
    );
  }

  test('that is deaf to TERM is ended by a cancel, however often it is asked', limit, async () => {
    const asking = chat(edge, { model: 'deaf', stream: true });
    await eventually('it is up', 10_000, () => readStream(asking.text).content === 'up\n');
    const operator = await edge.operator();
    const runId = (await operator.listRuns())[0]?.runId ?? '';
    await operator.cancelRun(runId);
    await operator.cancelRun(runId).catch(() => {});
    operator.close();
    const run = await edge.runEnded(runId);
    assert.deepEqual(run.end, { kind: 'cancelled', by: 'operator' });
    assert.equal(readStream((await asking.answer).text).done, false);
  });

  test('is run by the operator, and its record is listed', limit, async () => {
    const done = iop('run', '--adapter', 'cli', '--target', 'cat', 'Good morning');
    assert.deepEqual([done.status, done.stdout], [0, 'Good morning\n'], done.stderr);
    const failed = iop('run', '--adapter', 'cli', '--target', 'loud', 'x');
    assert.notEqual(failed.status, 0);
    assert.match(failed.stderr, /exit code 4; stderr ends with: key \*\*\* is wrong/);
    const runs = iop('runs');
    assert.match(runs.stdout, /completed +cli\/cat +n1/);
    assert.match(runs.stdout, /failed +cli\/loud .*cli\.exit: .* key \*\*\* is wrong/);
  });

  test('F24: lets out no value that it was passed: to no caller, log or record', limit, async () => {
    const texts = [...(await answersOfBoth()), ...(await whatIsKept())];
    assert.match(texts.map(([, text]) => text).join(), /exit code 4; stderr ends with: key \*\*\* is wrong/);
    const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').slice(0, 20)];
    for (const [where, text] of texts)
      for (const form of [...forms, 'canary'])
        assert.equal(text.includes(form), false, `${form} in ${where}`);
  });

  async function answersOfBoth(): Promise<Found[]> {
    const found: Found[] = [];
    for (const model of ['leaky', 'loud']) {
      for (const stream of [true, false])
        found.push([`answer of ${model}`, (await chat(edge, { model, stream }).answer).text]);
    }
    return found;
  }

  async function whatIsKept(): Promise<Found[]> {
    const runs = JSON.stringify(await edge.runs(), (_key, value) => (typeof value === 'bigint' ? 0 : value));
    const logs = [edge, node].map(({ program }): Found => [program.name, program.lines.join('\n')]);
    return [['records', runs], ...logs, ...filesBelow(edge.stateDir), ...filesBelow(node.stateDir)];
  }

  function readUp(): number | undefined {
    const file = join(work, 'up');
    return existsSync(file) && readFileSync(file, 'utf8').endsWith('\n')
      ? Number(readFileSync(file, 'utf8'))
      : undefined;
  }
});

/** Where it was found, and what. */
type Found = [where: string, text: string];

function filesBelow(dir: string): Found[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => [file, readFileSync(file, 'latin1')]);
}
