// F5 at all doors: a run that is started at one is watched, cancelled and found at every other, by two subscribers of each
// who see the same in the same order, whatever is cut meanwhile; with one end and one usage figure.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UsageView } from '@iop/client';
import { readStream } from './harness/chat.ts';
import { type DoorName, type Doors, doorNames, openDoors, send, toResponseId } from './harness/doors.ts';
import { eventually } from './harness/eventually.ts';
import { follow } from './harness/followed.ts';
import { openClient } from './harness/operator.ts';
import { at, openScene, type Scene } from './harness/scene.ts';
import type { Upstream } from './harness/upstream.ts';

const limit = { timeout: 60_000 };
const words = Array.from({ length: 100 }, (_, index) => `w${index}.`);
/** A caller finds what its key has started; an operator finds everything. */
const finders = (starter: DoorName) =>
  doorNames.filter((name) => starter !== 'operator' || isOperators(name));
const isOperators = (name: DoorName) => name === 'operator' || name === 'api';

describe('F5: one run, many doors', { timeout: 300_000 }, () => {
  let scene: Scene;
  let upstream: Upstream;
  let doors: Doors;
  before(async () => {
    scene = await openScene({ proxied: true });
    upstream = at(scene.upstreams, 0);
    doors = await openDoors(scene.edge, { model: 'm', adapter: 'vllm-n1', target: 'm' });
  });
  after(() => scene?.world.close());
  beforeEach(async () => {
    upstream.forget();
    await scene.edge.nodesReady(['n1']);
  });

  async function usage(): Promise<Pick<UsageView, 'runs' | 'completionTokens'>> {
    const client = await openClient(scene.edge);
    const rows = await client.usage({ by: 'node' });
    client.close();
    return rows.find(({ group }) => group === 'n1') ?? { runs: 0, completionTokens: 0 };
  }

  for (const starter of doorNames) {
    test(
      `started at ${starter}: all see all of it, in one order, with one end and one usage`,
      limit,
      async () => {
        upstream.act({ kind: 'stream', chunks: words, paceMs: 15 });
        const was = await usage();
        const run = await doors[starter].start({ prompt: 'watched' });
        const following = { edge: scene.edge, doors, runId: run.runId };
        const watches = finders(starter).flatMap((name) =>
          [0, 1].map(() => ({ name, view: follow(name, following) })),
        );
        const half = () => (upstream.requests[0]?.sentAt.length ?? 0) > words.length / 3;
        await eventually('it is under way', 10_000, half);
        run.hangUp();
        at(scene.proxies, 0).cutAll();
        for (const [index, { view }] of watches.entries()) {
          // one of each pair stays away for some events
          if (index % 2 === 0) view.cut();
          await sleep(20);
        }
        const seen = await Promise.all(
          watches.map(async ({ name, view }) => ({ name, events: await view.whole })),
        );
        for (const [index, { name, events }] of seen.entries()) {
          assert.deepEqual(toldBy(name, events), toldBy(name, at(seen, index - (index % 2)).events), name);
          assert.equal(textAt(name, events), words.join(''), name);
          assert.deepEqual(numbersAt(name, events), [], `${name} leaves out or repeats a number`);
        }
        const { end, attempts } = await scene.edge.runEnded(run.runId);
        assert.deepEqual({ end, attempts }, { end: { kind: 'completed', finish: 'stop' }, attempts: 1 });
        await eventually('it is in the usage once', 5_000, async () => (await usage()).runs === was.runs + 1);
        assert.equal((await usage()).completionTokens, was.completionTokens + 3);
        await isFoundAt(finders(starter), run.runId);
      },
    );
  }

  async function isFoundAt(names: readonly DoorName[], runId: string) {
    const get = async (path: string) => {
      const { status, text } = await send({ edge: scene.edge, secret: doors.secret }, { path }).answer;
      return { status, body: JSON.parse(text) };
    };
    if (names.includes('responses')) {
      const { body } = await get(`/v1/responses/${toResponseId(runId)}`);
      assert.deepEqual([body.status, body.usage.output_tokens], ['completed', 3]);
    } else {
      for (const path of [`responses/${toResponseId(runId)}`, `chat/completions/${runId}`])
        assert.equal((await get(`/v1/${path}`)).status, 404, 'it is not of this key');
    }
    const { body } = await get(`/api/v1/runs/${runId}`);
    assert.deepEqual([body.runId, body.end.usage.completionTokens], [runId, 3]);
  }

  for (const starter of doorNames) {
    test(`started at ${starter}: is cancelled at every other, and all see that end`, limit, async () => {
      upstream.act({ kind: 'stream', chunks: Array(5_000).fill('x'), paceMs: 10 });
      for (const canceller of finders(starter)) {
        upstream.forget();
        const run = await doors[starter].start({ prompt: `cancelled at ${canceller}` });
        const seen = await upstream.arrival(0);
        const following = { edge: scene.edge, doors, runId: run.runId };
        const watches = finders(starter).map((name) => ({ name, view: follow(name, following) }));
        await eventually('content', 5_000, () => seen.sentAt.length > 5);
        await doors[canceller].cancel(run.runId);
        for (const { name, view } of watches)
          assert.match((await view.whole).slice(-2).join('\n'), /cancelled/, name);
        const by = isOperators(canceller) ? 'operator' : 'caller';
        assert.deepEqual((await scene.edge.runEnded(run.runId)).end, { kind: 'cancelled', by });
        for (const name of finders(starter)) assert.equal(await doors[name].cancel(run.runId), 'cancelled');
        run.hangUp();
      }
    });
  }
});

/** What was told, however it was put into updates. */
function toldBy(name: DoorName, events: readonly string[]): readonly string[] {
  if (name !== 'api') return events;
  return apiUpdates(events).flatMap(
    ({ run }) => run?.events.map((event, index) => `${run.firstPos + index} ${JSON.stringify(event)}`) ?? [],
  );
}

function textAt(name: DoorName, events: readonly string[]): string {
  switch (name) {
    case 'chat':
      return readStream(`${events.join('\n\n')}\n\n`).content;
    case 'responses':
      return events
        .map((event) => /"type":"response.output_text.delta".*?"delta":"([^"]*)"/.exec(event)?.[1] ?? '')
        .join('');
    case 'operator':
      return readStream(events.map((event) => /^\d+ raw (.*)$/s.exec(event)?.[1] ?? '').join('')).content;
    case 'api':
      return readStream(rawOfApi(events)).content;
  }
}

interface ApiUpdate {
  run?: { firstPos: number; events: { raw?: { data: string } }[] };
}

const apiUpdates = (events: readonly string[]): ApiUpdate[] =>
  events
    .filter((event) => event.startsWith('id: '))
    .map((event) => JSON.parse(event.replace(/^id: \d+\ndata: /, '')));

function rawOfApi(events: readonly string[]): string {
  const raws = apiUpdates(events).flatMap(({ run }) => run?.events ?? []);
  return raws.map(({ raw }) => Buffer.from(raw?.data ?? '', 'base64').toString()).join('');
}

/** Numbers that do not follow the one before. */
function numbersAt(name: DoorName, events: readonly string[]): number[] {
  const numbers =
    name === 'api'
      ? apiUpdates(events).flatMap(
          ({ run }) => run?.events.map((_event, index) => run.firstPos + index) ?? [],
        )
      : events.flatMap((event) => {
          const found = /^id: (\d+)$|^(\d+) |"sequence_number":(\d+)/m.exec(event);
          return found === null ? [] : [Number(found[1] ?? found[2] ?? found[3])];
        });
  return numbers.filter((number, index) => number !== at(numbers, 0) + index);
}
