import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LinkMessage } from '@iop/link';
import { createFakeLink } from '@iop/link/testing';
import {
  CancelRunRequestSchema,
  create,
  DeleteRunRequestSchema,
  type OperatorRequest,
  type OperatorResponse,
  ReadRunRequestSchema,
  RunClass,
  type RunEvent,
  RunState,
  StartRunRequestSchema,
  WatchRunRequestSchema,
  WhyRunRequestSchema,
} from '@iop/wire';
import { createEdgeFixture, type EdgeFixture, settingsOf } from '../../testing/edge-fixture.ts';
import { completed } from '../../testing/fake-node.ts';
import { OperatorDesk } from './operator-desk.ts';

type Start = NonNullable<Parameters<typeof create<typeof StartRunRequestSchema>>[1]>;

/** An operator on a link that only remembers, before a core with fakes around it. */
function createScene(fixture: EdgeFixture = createEdgeFixture()) {
  const link = createFakeLink();
  const received: LinkMessage[] = [];
  const desk = new OperatorDesk({ edge: fixture.edge, link, bodyLimitBytes: 2_000_000 });
  let lastId = 0;
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) {
      fixture.clock.settle();
      await new Promise(setImmediate);
      received.push(...link.take());
    }
  }
  return {
    ...fixture,
    link,
    desk,
    settle,
    async ask(request: OperatorRequest['request'], id = ++lastId): Promise<OperatorResponse['response']> {
      desk.ask({ $typeName: 'iop.wire.v1.OperatorRequest', id, request });
      await settle();
      const answer = received.findLast((each) => each.case === 'operatorResponse' && each.value.id === id);
      return answer?.case === 'operatorResponse' ? answer.value.response : { case: undefined };
    },
    /** What a watch was told: events by pos, gaps, and its stop. */
    told: (id: number) => received.flatMap((message) => toldBy(message, id)),
  };
}

function toldBy(message: LinkMessage, id: number): string[] {
  if (message.case === 'operatorStop' && message.value.id === id)
    return [message.value.failure === undefined ? 'stop' : `stop: ${message.value.failure.code}`];
  if (message.case !== 'operatorUpdate' || message.value.id !== id) return [];
  const { update } = message.value;
  if (update.case === 'gap') return [`gap ${update.value.fromPos}–${update.value.toPos}`];
  if (update.case !== 'run') return [];
  const { firstPos, events } = update.value;
  return events.map((event, index) => `${firstPos + index} ${wordsOf(event)}`);
}

function wordsOf({ kind }: RunEvent): string {
  if (kind.case === 'raw') return new TextDecoder().decode(kind.value.data);
  if (kind.case === 'attempt') return `attempt ${kind.value.attempt} on ${kind.value.node}`;
  return kind.case === 'end' ? String(kind.value.end.case) : String(kind.case);
}

function toStart(over: Start) {
  const base = { adapter: 'mock', target: 'echo', dialect: 'openai.chat', stream: true };
  return create(StartRunRequestSchema, {
    ...base,
    body: new TextEncoder().encode('hello'),
    ...(over as object),
  });
}

const start = (over: Start = {}) => ({ case: 'startRun', value: toStart(over) }) as const;
const detached = { runClass: RunClass.DETACHED };
const watch = (runId: string, afterPos = 0) =>
  ({ case: 'watchRun', value: create(WatchRunRequestSchema, { runId, afterPos }) }) as const;

function runIdOf(answer: OperatorResponse['response']): string {
  assert.equal(answer.case, 'startRun', JSON.stringify(answer.value));
  return answer.case === 'startRun' ? answer.value.runId : '';
}

function codeOf(answer: OperatorResponse['response']): string {
  return answer.case === 'failure' ? answer.value.code : String(answer.case);
}

test('a detached run is started by one operator and watched by others, all from the first event', async () => {
  const scene = createScene();
  const node = scene.linkNode('a');
  const runId = runIdOf(await scene.ask(start(detached)));
  node.last().say('one', 'two');
  const watching = await scene.ask(watch(runId), 50);
  assert.equal(watching.case === 'watchRun' && watching.value.run?.stored, true, 'its content is kept');
  node.last().say('three');
  await scene.settle();
  await scene.ask(watch(runId, 2), 51);
  scene.desk.leave(50);
  node.last().end(completed);
  await scene.settle();
  const log = ['1 attempt 1 on a', '2 one', '3 two', '4 three', '5 completed', 'stop'];
  assert.deepEqual(scene.told(50), log.slice(0, 4), 'who has left is told no more, and the run goes on');
  assert.deepEqual(scene.told(51), log.slice(2));
  await scene.ask(watch(runId), 52);
  assert.deepEqual(scene.told(52), log, 'also when it is over');
});

test('a watch that begins at the end stops, and one beyond it is refused', async () => {
  const scene = createScene();
  const node = scene.linkNode('a');
  const runId = runIdOf(await scene.ask(start(detached)));
  node.last().end(completed);
  await scene.settle();
  assert.equal((await scene.ask(watch(runId, 2), 50)).case, 'watchRun');
  assert.deepEqual(scene.told(50), ['stop']);
  assert.equal(codeOf(await scene.ask(watch(runId, 3))), 'run.past-end');
  assert.equal(codeOf(await scene.ask(watch('run_none'))), 'run.unknown');
});

test('what a detached run says is shown to nobody before it is committed', async () => {
  const scene = createScene();
  const node = scene.linkNode('a');
  const runId = runIdOf(await scene.ask(start(detached)));
  await scene.ask(watch(runId), 50);
  scene.log.commitsAtOnce = false;
  node.last().say('one');
  node.last().end(completed);
  await scene.settle();
  const value = create(ReadRunRequestSchema, { runId });
  const kinds = async () => {
    const page = await scene.ask({ case: 'readRun', value });
    return page.case === 'readRun' ? page.value.events.map(wordsOf) : [];
  };
  assert.deepEqual(scene.told(50), ['1 attempt 1 on a']);
  assert.deepEqual(await kinds(), ['attempt 1 on a']);
  scene.log.commitAll();
  await scene.settle();
  assert.deepEqual(scene.told(50).slice(1), ['2 one', '3 completed', 'stop']);
  assert.deepEqual(await kinds(), ['attempt 1 on a', 'one', 'completed']);
});

test('a link that does not drain is given one window of a watch, and the rest when it does', async () => {
  const scene = createScene();
  const node = scene.linkNode('a');
  const runId = runIdOf(await scene.ask(start(detached)));
  await scene.ask(watch(runId), 50);
  scene.link.unsentBytes = 1_000_000;
  const piece = 'x'.repeat(60_000);
  for (let count = 0; count < 20; count++) {
    node.last().say(piece);
    await scene.settle();
  }
  const stalled = scene.told(50).length;
  assert.ok(stalled > 1 && stalled <= 7, `${stalled} events of 60 kB passed a window of 256 KiB`);
  node.last().end(completed);
  await scene.settle();
  scene.link.unsentBytes = 0;
  for (let turns = 0; turns < 10; turns++) {
    scene.desk.drained();
    await scene.settle();
  }
  assert.equal(scene.told(50).length, 1 + 20 + 1 + 1);
  assert.equal(scene.told(50).at(-2), '22 completed');
});

test('a repeat of an idempotency key is the same run; another request with it is refused', async () => {
  const scene = createScene();
  scene.linkNode('a');
  const keyed = { ...detached, idempotencyKey: 'k' };
  const first = await scene.ask(start(keyed));
  const second = await scene.ask(start(keyed));
  assert.equal(runIdOf(second), runIdOf(first));
  assert.equal(second.case === 'startRun' && second.value.repeated, true);
  assert.equal(
    codeOf(await scene.ask(start({ ...keyed, bodyText: 'x', body: new Uint8Array() }))),
    'idempotency.conflict',
  );
  assert.equal(codeOf(await scene.ask(start({ ...keyed, target: 'other' }))), 'target.unknown');
});

test('an attached run with an idempotency key has two owners and ends with the last', async () => {
  const scene = createScene();
  const node = scene.linkNode('a');
  const runId = runIdOf(await scene.ask(start({ idempotencyKey: 'k' }), 50));
  node.last().say('one');
  await scene.settle();
  assert.equal(runIdOf(await scene.ask(start({ idempotencyKey: 'k' }), 51)), runId);
  assert.deepEqual(scene.told(51), ['1 attempt 1 on a', '2 one'], 'a repeat begins with the first event');
  scene.desk.leave(50);
  assert.equal(node.askedFor('cancel').length, 0);
  scene.desk.leave(51);
  assert.equal(node.askedFor('cancel').length, 1);
});

test('whoever watches an attached run owns nothing of it', async () => {
  const scene = createScene();
  const node = scene.linkNode('a');
  const runId = runIdOf(await scene.ask(start(), 50));
  await scene.ask(watch(runId), 51);
  await scene.ask(watch(runId), 52);
  scene.desk.leave(51);
  assert.equal(node.askedFor('cancel').length, 0);
  scene.desk.leave(50);
  assert.equal(node.askedFor('cancel').length, 1, 'its owner has left, although somebody looks');
  node.last().end({ kind: 'cancelled', by: 'caller' });
  await scene.settle();
  assert.deepEqual(scene.told(52), ['1 attempt 1 on a', '2 state', '3 cancelled', 'stop']);
});

test('a body in parts is one body; what does not fit is refused', async () => {
  const scene = createScene();
  const node = scene.linkNode('a');
  const whole = new Uint8Array(700_000).map((_, at) => at % 251);
  const part = (id: number, data: Uint8Array) =>
    scene.desk.bodyPart({ $typeName: 'iop.wire.v1.OperatorBody', id, data: data as Uint8Array<ArrayBuffer> });
  scene.desk.ask({
    $typeName: 'iop.wire.v1.OperatorRequest',
    id: 50,
    request: start({ ...detached, body: whole.subarray(0, 300_000), bodySize: whole.length }),
  });
  const other = start({ body: new Uint8Array(1), bodySize: 2 });
  assert.equal(codeOf(await scene.ask(other)), 'run.body-interleaved');
  part(50, whole.subarray(300_000, 500_000));
  part(50, whole.subarray(500_000));
  await scene.settle();
  assert.deepEqual(Buffer.compare(node.last().order.body, whole), 0);
  assert.equal(codeOf(await scene.ask(start({ bodySize: 2_000_001 }))), 'run.body-too-large');
  assert.equal(
    codeOf(await scene.ask(start({ body: new Uint8Array(512 * 1024 + 1) }))),
    'run.body-too-large',
  );
  assert.equal(codeOf(await scene.ask(start({ bodySize: 2 }))), 'run.body-size');
  scene.desk.ask({
    $typeName: 'iop.wire.v1.OperatorRequest',
    id: 60,
    request: start({ body: new Uint8Array(1), bodySize: 2 }),
  });
  part(60, new Uint8Array(2));
  await scene.settle();
  assert.equal(codeOf(await scene.ask(start({ bodyText: 'x' }))), 'run.two-bodies');
});

test('a page of a log says where it begins, and nothing where nothing is', async () => {
  const scene = createScene();
  const node = scene.linkNode('a');
  const runId = runIdOf(await scene.ask(start(detached)));
  node.last().say('one', 'two');
  await scene.settle();
  const read = async (afterPos: number) => {
    const answer = await scene.ask({
      case: 'readRun',
      value: create(ReadRunRequestSchema, { runId, afterPos }),
    });
    assert.equal(answer.case, 'readRun');
    return answer.case === 'readRun' ? [answer.value.firstPos, ...answer.value.events.map(wordsOf)] : [];
  };
  assert.deepEqual(await read(0), [1, 'attempt 1 on a', 'one', 'two']);
  assert.deepEqual(await read(2), [3, 'two']);
  assert.deepEqual(await read(9), [10]);
});

test('why a run went where it went is told from its log', async () => {
  const fixture = createEdgeFixture(settingsOf({}, { nodeConcurrency: 1 }));
  const scene = createScene(fixture);
  const node = scene.linkNode('a');
  const runId = runIdOf(await scene.ask(start(detached)));
  const waits = runIdOf(await scene.ask(start(detached)));
  node.last().say('one', 'two');
  await scene.settle();
  const why = async (id: string) => {
    const answer = await scene.ask({ case: 'whyRun', value: create(WhyRunRequestSchema, { runId: id }) });
    assert.equal(answer.case, 'whyRun', JSON.stringify(answer.value));
    return answer.case === 'whyRun' ? answer.value : undefined;
  };
  const told = await why(runId);
  assert.deepEqual(
    told?.attempts.map(({ node: where, events, candidates }) => [where, events, candidates[0]?.verdict]),
    [['a', 2, 'chosen']],
  );
  assert.equal(told?.waiting, '');
  const waiting = await why(waits);
  assert.deepEqual(waiting?.attempts, []);
  assert.match(waiting?.waiting ?? '', /all that could take it are busy/);
  assert.equal(
    codeOf(await scene.ask({ case: 'whyRun', value: create(WhyRunRequestSchema) })),
    'run.unknown',
  );
});

test('the content of a run can be deleted when it has ended', async () => {
  const scene = createScene();
  const node = scene.linkNode('a');
  const runId = runIdOf(await scene.ask(start(detached)));
  const remove = async () =>
    codeOf(await scene.ask({ case: 'deleteRun', value: create(DeleteRunRequestSchema, { runId }) }));
  assert.equal(await remove(), 'run.not-ended');
  const cancelled = await scene.ask({ case: 'cancelRun', value: create(CancelRunRequestSchema, { runId }) });
  assert.equal(cancelled.case === 'cancelRun' && cancelled.value.state, RunState.STOPPING);
  node.last().end({ kind: 'cancelled', by: 'operator' });
  await scene.settle();
  assert.equal(await remove(), 'deleteRun');
});

test('where content may not be kept, neither detached nor stored runs are started', async () => {
  const settings = settingsOf();
  const scene = createScene(
    createEdgeFixture({ ...settings, history: { ...settings.history, store: 'refuse' } }),
  );
  scene.linkNode('a');
  assert.equal(codeOf(await scene.ask(start(detached))), 'run.store-refused');
  assert.equal(codeOf(await scene.ask(start({ store: true }))), 'run.store-refused');
  assert.equal(codeOf(await scene.ask(start())), 'startRun');
});
