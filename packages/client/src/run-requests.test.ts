import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '@iop/domain';
import type { Link, LinkMessage } from '@iop/link';
import {
  create,
  OperatorResponseSchema,
  OperatorStopSchema,
  OperatorUpdateSchema,
  RunClass,
  RunGapSchema,
  RunInfoSchema,
  RunState,
  StartRunResponseSchema,
  toEndEvent,
  toFailure,
  WatchRunResponseSchema,
} from '@iop/wire';
import { OperatorRequests } from './requests.ts';
import { createRunRequests } from './run-requests.ts';
import type { RunUpdate } from './started-run.ts';

const clock: Clock = {
  now: () => 0,
  wall: () => 0,
  after: () => () => {},
  soon: (callback) => callback(),
  atTurnEnd: (callback) => callback(),
};

function openDesk() {
  const sent: LinkMessage[] = [];
  const link = { peer: { name: 'lab' }, send: (message: LinkMessage) => sent.push(message) };
  const requests = new OperatorRequests(clock);
  const { onMessage } = requests.open(link as unknown as Link);
  return { sent, onMessage, client: createRunRequests(requests) };
}

async function readAll(updates: AsyncIterable<RunUpdate>): Promise<RunUpdate[]> {
  const all: RunUpdate[] = [];
  for await (const update of updates) all.push(update);
  return all;
}

const order = { adapter: 'mock', target: 'echo', dialect: 'openai.chat', stream: true };

test('a large body follows its request in parts', async () => {
  const desk = openDesk();
  const body = new Uint8Array(700_000).map((_, at) => at % 251);
  const starting = desk.client.startDetached({ ...order, body, idempotencyKey: 'k' });
  const value = create(StartRunResponseSchema, { runId: 'run_1', repeated: true });
  desk.onMessage({
    case: 'operatorResponse',
    value: create(OperatorResponseSchema, { id: 1, response: { case: 'startRun', value } }),
  });
  assert.deepEqual(await starting, { runId: 'run_1', repeated: true });
  const [first, ...parts] = desk.sent;
  const request = first?.case === 'operatorRequest' ? first.value.request : undefined;
  assert.ok(request?.case === 'startRun');
  assert.deepEqual(
    [request.value.runClass, request.value.idempotencyKey, request.value.bodySize],
    [RunClass.DETACHED, 'k', body.length],
  );
  const pieces = [
    request.value.body,
    ...parts.map((part) => (part.case === 'operatorBody' ? part.value.data : assert.fail(part.case))),
  ];
  assert.ok(pieces.every((piece) => piece.length <= 256 * 1024));
  assert.equal(Buffer.compare(Buffer.concat(pieces), body), 0);
});

function answerWatch(
  desk: ReturnType<typeof openDesk>,
  run: Parameters<typeof create<typeof RunInfoSchema>>[1],
) {
  const value = create(WatchRunResponseSchema, { run: create(RunInfoSchema, run) });
  desk.onMessage({
    case: 'operatorResponse',
    value: create(OperatorResponseSchema, { id: 1, response: { case: 'watchRun', value } }),
  });
}

test('a watch that begins at the end gives the end, whether its stop comes before or after', async () => {
  const end = toEndEvent({ kind: 'cancelled', by: 'operator' });
  const desk = openDesk();
  const watching = desk.client.watchRun('run_1', 7);
  answerWatch(desk, { runId: 'run_1', state: RunState.CANCELLED, lastPos: 7, end });
  desk.onMessage({ case: 'operatorStop', value: create(OperatorStopSchema, { id: 1 }) });
  const { updates, run } = await watching;
  assert.equal(run.lastPos, 7);
  assert.deepEqual(await readAll(updates), [
    { kind: 'end', pos: 7, end: { kind: 'cancelled', by: 'operator' } },
  ]);
});

test('what is gone is told, and an Edge that cannot go on says why', async () => {
  const desk = openDesk();
  const watching = desk.client.watchRun('run_1');
  answerWatch(desk, { runId: 'run_1', state: RunState.RUNNING, lastPos: 9 });
  const gap = create(RunGapSchema, { runId: 'run_1', fromPos: 1, toPos: 9 });
  desk.onMessage({
    case: 'operatorUpdate',
    value: create(OperatorUpdateSchema, { id: 1, update: { case: 'gap', value: gap } }),
  });
  const failure = toFailure({
    kind: 'unavailable',
    code: 'store.unavailable',
    message: 'no disk',
    details: {},
  });
  desk.onMessage({ case: 'operatorStop', value: create(OperatorStopSchema, { id: 1, failure }) });
  const { updates } = await watching;
  const seen: RunUpdate[] = [];
  await assert.rejects(
    async () => {
      for await (const update of updates) seen.push(update);
    },
    { code: 'store.unavailable' },
  );
  assert.deepEqual(seen, [{ kind: 'gap', fromPos: 1, toPos: 9 }]);
});
