import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '@iop/domain';
import type { Link, LinkHandlers, LinkMessage } from '@iop/link';
import {
  create,
  EndEventSchema,
  ListNodesResponseSchema,
  NodeInfoSchema,
  type OperatorResponse,
  OperatorResponseSchema,
  OperatorStopSchema,
  OperatorUpdateSchema,
  RawEventSchema,
  type RunEvent,
  RunEventSchema,
  RunState,
  RunUpdateSchema,
  StartRunResponseSchema,
  toEndEvent,
  toFailure,
} from '@iop/wire';
import { createOperatorClient, type OperatorClient } from './operator-client.ts';
import { OperatorRequests } from './requests.ts';
import type { RunUpdate } from './started-run.ts';

interface Desk {
  client: OperatorClient;
  handlers: LinkHandlers;
  sent: LinkMessage[];
  /** Lets the waiting time of requests pass. */
  elapse(): void;
  answer(response: OperatorResponse['response']): void;
  update(state: RunState, firstPos: number, events: RunEvent[]): void;
}

/** A client on a link whose far end is the test. */
function openDesk(): Desk {
  const timers = new Set<() => void>();
  const clock: Clock = {
    now: () => 0,
    wall: () => 0,
    after(_delayMs, callback) {
      timers.add(callback);
      return () => void timers.delete(callback);
    },
    soon: (callback) => callback(),
    atTurnEnd: (callback) => callback(),
  };
  const sent: LinkMessage[] = [];
  const link = { peer: { name: 'lab' }, send: (message: LinkMessage) => sent.push(message), close: () => {} };
  const requests = new OperatorRequests(clock);
  const handlers = requests.open(link as unknown as Link);
  const lastId = (): number => {
    const last = sent.findLast(isRequest);
    return last?.case === 'operatorRequest' ? last.value.id : assert.fail('nothing was asked');
  };
  return {
    client: createOperatorClient(requests, 'lab'),
    handlers,
    sent,
    elapse: () => {
      for (const timer of timers) timer();
    },
    answer: (response) =>
      handlers.onMessage({
        case: 'operatorResponse',
        value: create(OperatorResponseSchema, { id: lastId(), response }),
      }),
    update: (state, firstPos, events) =>
      handlers.onMessage({
        case: 'operatorUpdate',
        value: create(OperatorUpdateSchema, {
          id: 1,
          update: {
            case: 'run',
            value: create(RunUpdateSchema, { runId: 'r', state, node: 'n1', firstPos, events }),
          },
        }),
      }),
  };
}

function isRequest(message: LinkMessage): boolean {
  return message.case === 'operatorRequest';
}

const order = {
  adapter: 'mock',
  target: 'echo',
  dialect: 'openai.chat',
  body: new Uint8Array(),
  stream: true,
};
const raw = create(RunEventSchema, {
  kind: { case: 'raw', value: create(RawEventSchema, { dialect: 'openai.chat' }) },
});
const done = create(RunEventSchema, {
  kind: { case: 'end', value: toEndEvent({ kind: 'completed', finish: 'stop' }) },
});

async function startRun(desk: Desk) {
  const starting = desk.client.startRun(order);
  desk.answer({ case: 'startRun', value: create(StartRunResponseSchema, { runId: 'run_1' }) });
  return starting;
}

async function readAll(updates: AsyncIterable<RunUpdate>): Promise<RunUpdate[]> {
  const all: RunUpdate[] = [];
  for await (const update of updates) all.push(update);
  return all;
}

test('a list is asked for and given in plain values', async () => {
  const desk = openDesk();
  const asked = desk.client.listNodes();
  const node = create(NodeInfoSchema, { name: 'n1', state: 'ready', lastSeen: '1700000000000' });
  desk.answer({ case: 'listNodes', value: create(ListNodesResponseSchema, { nodes: [node] }) });
  const [view] = await asked;
  assert.equal(view?.name, 'n1');
  assert.equal(view?.lastSeenMs, 1_700_000_000_000);
});

test('a refusal of the Edge is thrown with its kind, code and words', async () => {
  const desk = openDesk();
  const asked = desk.client.cancelRun('run_x');
  desk.answer({
    case: 'failure',
    value: toFailure({ kind: 'not-found', code: 'run.unknown', message: 'no such run', details: {} }),
  });
  await assert.rejects(asked, { kind: 'not-found', code: 'run.unknown', message: 'no such run' });
});

test('a lost link fails all that waits and all that is asked later', async () => {
  const desk = openDesk();
  const asked = desk.client.listKeys();
  desk.handlers.onClosed({ kind: 'lost', reason: 'ECONNRESET' });
  const expected = {
    kind: 'unavailable',
    code: 'operator.link-lost',
    message: /the Edge lab is gone: ECONNRESET/,
  };
  await assert.rejects(asked, expected);
  await assert.rejects(desk.client.listKeys(), expected);
});

test('an Edge that does not answer is a time-out, and its late answer is ignored', async () => {
  const desk = openDesk();
  const asked = desk.client.listNodes();
  desk.elapse();
  await assert.rejects(asked, { kind: 'timeout' });
  desk.answer({ case: 'listNodes', value: create(ListNodesResponseSchema) });
});

test('an answer of another kind is not taken for the wanted one', async () => {
  const desk = openDesk();
  const asked = desk.client.listKeys();
  desk.answer({ case: 'listNodes', value: create(ListNodesResponseSchema) });
  await assert.rejects(asked, { kind: 'unsupported', code: 'operator.wrong-answer' });
});

test('a run is followed in order to its end', async () => {
  const desk = openDesk();
  const run = await startRun(desk);
  desk.update(RunState.QUEUED, 0, []);
  desk.update(RunState.RUNNING, 1, [raw, raw]);
  desk.update(RunState.RUNNING, 3, [raw]);
  desk.update(RunState.COMPLETED, 4, [done]);
  const updates = await readAll(run.updates);
  assert.deepEqual(
    updates.map((update) =>
      update.kind === 'event' ? update.pos : update.kind === 'state' ? update.state : update,
    ),
    ['queued', 'running', 1, 2, 3, { kind: 'end', pos: 4, end: { kind: 'completed', finish: 'stop' } }],
  );
});

test('updates that come with the answer are not missed, and reading may begin late', async () => {
  const desk = openDesk();
  const starting = desk.client.startRun(order);
  desk.update(RunState.RUNNING, 1, [raw]);
  desk.answer({ case: 'startRun', value: create(StartRunResponseSchema, { runId: 'run_1' }) });
  desk.update(RunState.COMPLETED, 2, [done]);
  const run = await starting;
  assert.equal((await readAll(run.updates)).length, 3);
});

test('a run whose link is lost never looks whole', async () => {
  const desk = openDesk();
  const run = await startRun(desk);
  desk.update(RunState.RUNNING, 1, [raw]);
  desk.handlers.onClosed({ kind: 'silent', silentMs: 30_000 });
  await assert.rejects(readAll(run.updates), { kind: 'unavailable', message: /silent for 30000 ms/ });
});

test('an Edge that stops telling before the end is a failure, after it nothing', async () => {
  const stop = { case: 'operatorStop', value: create(OperatorStopSchema, { id: 1 }) } as const;
  const cut = openDesk();
  const run = await startRun(cut);
  cut.handlers.onMessage(stop);
  await assert.rejects(readAll(run.updates), { code: 'operator.no-end' });

  const whole = openDesk();
  const other = await startRun(whole);
  whole.update(RunState.COMPLETED, 1, [done]);
  whole.handlers.onMessage(stop);
  assert.equal((await readAll(other.updates)).length, 1);
});

test('an end that says nothing is shown as a failure', async () => {
  const desk = openDesk();
  const run = await startRun(desk);
  desk.update(RunState.FAILED, 1, [
    create(RunEventSchema, { kind: { case: 'end', value: create(EndEventSchema) } }),
  ]);
  const [update] = await readAll(run.updates);
  assert.equal(update?.kind === 'end' && update.end.kind, 'failed');
});

test('cancel asks the Edge, leave says that nobody looks any more', async () => {
  const desk = openDesk();
  const run = await startRun(desk);
  void run.cancel().catch(() => {});
  run.leave();
  run.leave();
  const cases = desk.sent.map((message) =>
    message.case === 'operatorRequest' ? message.value.request.case : message.case,
  );
  assert.deepEqual(cases, ['startRun', 'cancelRun', 'operatorStop']);
});

test('a run that the Edge refuses to start leaves no watch behind', async () => {
  const desk = openDesk();
  const starting = desk.client.startRun(order);
  desk.answer({
    case: 'failure',
    value: toFailure({ kind: 'unavailable', code: 'node.none', message: 'no Node', details: {} }),
  });
  await assert.rejects(starting, { code: 'node.none' });
  desk.update(RunState.RUNNING, 1, [raw]);
});
