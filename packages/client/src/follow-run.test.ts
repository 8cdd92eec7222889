import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IopError } from '@iop/domain';
import { create, RunEventSchema, TextEventSchema } from '@iop/wire';
import { type FollowOptions, followRun } from './follow-run.ts';
import type { OperatorClient } from './operator-client.ts';
import type { RunUpdate, WatchedRun } from './started-run.ts';

const done: RunUpdate = { kind: 'end', pos: 99, end: { kind: 'completed', finish: 'stop' } };

function text(pos: number): RunUpdate {
  const value = create(TextEventSchema, { text: String(pos) });
  return { kind: 'event', pos, event: create(RunEventSchema, { kind: { case: 'text', value } }) };
}

function failure(kind: IopError['kind'], code = 'operator.link-lost'): IopError {
  return new IopError({ kind, code, message: code });
}

/** What one link gives: updates, then perhaps the reason why it was lost. */
type Life = readonly (RunUpdate | IopError)[] | IopError;

/** Links that live and die as a test says; `asked` is after which pos each watch was asked for. */
function createScene(lives: readonly Life[]) {
  const asked: number[] = [];
  const delays: number[] = [];
  let closed = 0;
  let links = 0;
  const abort = new AbortController();
  const options: FollowOptions = {
    signal: abort.signal,
    random: () => 0.5,
    clock: {
      after(delayMs, callback) {
        delays.push(delayMs);
        const timer = setImmediate(callback);
        return () => clearImmediate(timer);
      },
    },
    async connect() {
      const life = lives[links++] ?? assert.fail('nobody asked for so many links');
      if (life instanceof IopError) throw life;
      const client = {
        watchRun: async (_runId: string, afterPos: number): Promise<WatchedRun> => {
          asked.push(afterPos);
          return { run: {}, updates: play(life), leave() {} } as unknown as WatchedRun;
        },
        [Symbol.dispose]: () => {
          closed++;
        },
      };
      return client as unknown as OperatorClient;
    },
  };
  return { options, asked, delays, abort, closed: () => closed };
}

async function* play(life: readonly (RunUpdate | IopError)[]): AsyncGenerator<RunUpdate> {
  for (const each of life) {
    if (each instanceof IopError) throw each;
    yield each;
  }
  await new Promise(() => {}); // nothing more, and no end
}

async function readAll(updates: AsyncIterable<RunUpdate>): Promise<RunUpdate[]> {
  const all: RunUpdate[] = [];
  for await (const update of updates) all.push(update);
  return all;
}

test('a run is followed across lost links, each event once', async () => {
  const gap: RunUpdate = { kind: 'gap', fromPos: 4, toPos: 7 };
  const scene = createScene([
    [text(1), text(2), failure('unavailable')],
    failure('unavailable', 'link.dial-failed'),
    failure('timeout', 'link.dial-timeout'),
    [text(3), gap, failure('unavailable', 'store.unavailable')],
    [text(8), done],
  ]);
  const updates = await readAll(followRun('run_1', 0, scene.options));
  assert.deepEqual(updates, [text(1), text(2), text(3), gap, text(8), done]);
  assert.deepEqual(scene.asked, [0, 2, 7]);
  assert.equal(scene.closed(), 3, 'every link was closed');
  assert.deepEqual(scene.delays, [125, 250, 500, 125], 'delays grow, until something comes');
});

test('what cannot be had at first, and what no link can heal, is thrown', async () => {
  for (const lives of [
    [failure('unavailable', 'edge.not-found')],
    [[failure('not-found', 'run.unknown')]],
    [[text(1), failure('unavailable')], failure('unauthenticated', 'identity.token-wrong')],
    [[text(1), failure('unavailable')], [failure('invalid', 'run.past-end')]],
  ]) {
    const scene = createScene(lives);
    const last = lives.flat().at(-1);
    await assert.rejects(readAll(followRun('run_1', 0, scene.options)), last as IopError);
  }
});

test('whoever looks no longer ends it, also while it waits for a link', async () => {
  const quiet = createScene([[text(1)]]);
  const seen: RunUpdate[] = [];
  for await (const update of followRun('run_1', 0, quiet.options)) {
    seen.push(update);
    quiet.abort.abort();
  }
  assert.deepEqual(seen, [text(1)]);
  assert.equal(quiet.closed(), 1);

  const lost = createScene([[text(1), failure('unavailable')]]);
  const { abort } = lost;
  const options = { ...lost.options, onLost: () => abort.abort() };
  assert.deepEqual(await readAll(followRun('run_1', 0, options)), [text(1)]);
});
