// F29: an Edge that may open few files, or use little memory, under thousands of connections. It turns away what it cannot
// hold, goes on with what it has, and recovers unaided.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChatInit, chat, contentOf, readStream } from './harness/chat.ts';
import { openCrowd } from './harness/crowd.ts';
import type { Edge, EdgeConfig } from './harness/edge.ts';
import { eventually } from './harness/eventually.ts';
import type { Answer } from './harness/http.ts';
import { resumeText } from './harness/resumed-chat.ts';
import { openWorld, type World } from './harness/world.ts';

const prlimit = '/usr/bin/prlimit';
const skip = existsSync(prlimit) ? false : 'wants prlimit (util-linux)';
const mostFiles = 256;
const crowdSize = 2_000;
const words = Array.from({ length: 400 }, (_, index) => `w${index}`);
const long = (paceMs: number) => `<mock>${JSON.stringify({ text: words.join(' '), pace_ms: paceMs })}</mock>`;

const openFiles = ({ program }: Edge) => readdirSync(`/proc/${program.pid}/fd`).length;

async function withEdge(
  config: EdgeConfig,
  story: (edge: Edge, world: World) => Promise<void>,
): Promise<void> {
  const world = openWorld();
  try {
    const edge = await world.edge(config);
    await world.node(edge, { name: 'n1' });
    await story(edge, world);
  } finally {
    await world.close();
  }
}

/** A run that nobody looks at. */
async function leftAlone(edge: Edge): Promise<string> {
  const asking = chat(edge, {
    model: 'echo',
    stream: true,
    prompt: long(40),
    headers: { 'x-iop-on-disconnect': 'continue' },
  });
  await eventually('content', 10_000, () => readStream(asking.text).content !== '');
  const runId = String((await asking.head).headers['x-iop-run']);
  asking.hangUp();
  return runId;
}

async function isWhole(edge: Edge, runId: string): Promise<void> {
  const { end, attempts } = await edge.runEnded(runId, 40_000);
  assert.deepEqual({ end, attempts }, { end: { kind: 'completed', finish: 'stop' }, attempts: 1 });
  assert.equal(readStream((await resumeText(edge, runId)).text).content, words.join(' '));
}

describe('F29: an Edge at its limits', { timeout: 400_000, concurrency: false }, () => {
  for (const port of ['httpPort', 'wirePort'] as const) {
    test(
      `of open files, ${crowdSize} connections at its ${port}: goes on, and recovers`,
      {
        timeout: 120_000,
        skip,
      },
      () =>
        withEdge({ prefix: [prlimit, `--nofile=${mostFiles}:${mostFiles}`, '--'] }, async (edge, world) => {
          const agent = new Agent({ keepAlive: true, maxSockets: 1 });
          world.defer(() => agent.destroy());
          const echo = async (init: ChatInit = {}) =>
            await chat(edge, { model: 'echo', prompt: 'hi', ...init }).answer;
          assert.equal(contentOf((await echo({ agent })).text), 'hi');
          const filesBefore = openFiles(edge);
          const runId = await leftAlone(edge);

          const crowd = await openCrowd(edge[port], crowdSize);
          assert.ok(openFiles(edge) <= mostFiles);
          assert.ok(crowd.open() < crowdSize, 'some were turned away');
          for (let asked = 0; asked < 10; asked++) {
            assert.equal(contentOf((await echo({ agent })).text), 'hi', 'who was there before is served');
            await sleep(100);
          }
          crowd.leave();
          await eventually(
            'a newcomer is served',
            10_000,
            async () => (await echo().catch(() => undefined))?.status === 200,
          );
          await isWhole(edge, runId);
          await eventually('nothing is left open', 10_000, () => openFiles(edge) <= filesBefore + 2);
        }),
    );
  }

  test(
    'of memory, two thousand callers at once: turns away with 429 or 503, loses no Node, and recovers',
    {
      timeout: 200_000,
    },
    () => withEdge(tight, crowdAsks),
  );
});

const tight: EdgeConfig = {
  env: { NODE_OPTIONS: '--max-old-space-size=96' },
  limits: { queue: 100, node_concurrency: 200 },
};

async function crowdAsks(edge: Edge): Promise<void> {
  const runId = await leftAlone(edge);
  const ask = (): Promise<Answer | undefined> => {
    const extra = { padding: 'p'.repeat(50_000) };
    const asking = chat(edge, { model: 'echo', stream: true, prompt: long(5), extra });
    return asking.answer.catch(() => undefined);
  };
  const answers = await Promise.all(Array.from({ length: crowdSize }, ask));
  assert.ok(edge.program.running);
  const served = answers.filter((answer) => answer?.status === 200);
  for (const answer of served) assert.equal(readStream(answer?.text ?? '').content, words.join(' '));
  assert.ok(served.length >= 200, `${served.length} were served`);
  const refused = answers.flatMap((answer) =>
    answer === undefined || answer.status === 200 ? [] : [answer],
  );
  assert.ok(refused.length > 0);
  for (const { status, headers, text } of refused) {
    assert.ok(status === 429 || status === 503, text);
    assert.ok(Number(headers['retry-after']) > 0, text);
  }
  assert.equal(contentOf((await chat(edge, { model: 'echo', prompt: 'hi' }).answer).text), 'hi');
  await isWhole(edge, runId);
}
