import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dialTcp, dialUnix } from '@iop/link/tcp';
import {
  CancelRunRequestSchema,
  CreateKeyRequestSchema,
  create,
  fromEndEvent,
  ListKeysRequestSchema,
  ListNodesRequestSchema,
  ListRunsRequestSchema,
  ListTargetsRequestSchema,
  PongSchema,
  RevokeKeyRequestSchema,
  RunClass,
  RunState,
  type RunUpdate,
} from '@iop/wire';
import { codeOf, settingsOf } from '../../testing/edge-fixture.ts';
import { completed } from '../../testing/fake-node.ts';
import { linkOperator, startRequest, type WireOperator } from '../../testing/wire-operator.ts';
import { createWireWorld, operatorToken, until, type WireWorld } from '../../testing/wire-world.ts';

const limit = { timeout: 60_000 };

function local(world: WireWorld): Promise<WireOperator> {
  return linkOperator({ dial: dialUnix({ path: world.socketPath }), pins: [], token: '' });
}

function overTcp(world: WireWorld, token: string): Promise<WireOperator> {
  const { port, pin } = world;
  return linkOperator({
    dial: dialTcp({ host: '127.0.0.1', port, tls: true, pins: [pin] }),
    pins: [pin],
    token,
  });
}

function failureCode(response: Awaited<ReturnType<WireOperator['ask']>>): string {
  return response.case === 'failure' ? response.value.code : String(response.case);
}

function textOf(updates: readonly RunUpdate[]): string {
  const pieces = updates.flatMap(({ events }) =>
    events.map(({ kind }) => (kind.case === 'raw' ? kind.value.data : [])),
  );
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString();
}

function endOf(updates: readonly RunUpdate[]) {
  const last = updates.at(-1)?.events.at(-1)?.kind;
  return last?.case === 'end' ? fromEndEvent(last.value) : undefined;
}

test('an operator needs the token over TCP and none on the local socket', limit, async () => {
  await using world = await createWireWorld();
  assert.equal((await overTcp(world, operatorToken)).outcome, 'linked');
  assert.equal((await overTcp(world, 'guess')).outcome, 'identity.token-wrong');
  assert.equal((await overTcp(world, '')).outcome, 'identity.token-missing');
  assert.equal((await local(world)).outcome, 'linked');
  assert.deepEqual(world.edge.listNodes(), [], 'no operator becomes a Node');
});

test('a Node is not taken on the operators’ socket', limit, async () => {
  await using world = await createWireWorld();
  const outcome = await world.node('a', { dial: dialUnix({ path: world.socketPath }), pins: [] }).link();
  assert.equal(outcome.kind === 'rejected' && outcome.code, 'identity.role-not-served');
});

test('Nodes, targets and runs are listed', limit, async () => {
  await using world = await createWireWorld({ settings: settingsOf({}, { nodeConcurrency: 1 }) });
  const node = await world.readyNode('a');
  const operator = await local(world);
  const first = world.start();
  const second = world.start();
  const nodes = await operator.ask({ case: 'listNodes', value: create(ListNodesRequestSchema) });
  const info = nodes.case === 'listNodes' ? nodes.value.nodes[0] : undefined;
  assert.deepEqual(
    [info?.name, info?.state, info?.running, info?.epoch, info?.build],
    ['a', 'ready', 1, 1, 'wire-node'],
  );
  assert.deepEqual(info?.adapters[0]?.targets, ['echo']);
  const targets = await operator.ask({ case: 'listTargets', value: create(ListTargetsRequestSchema) });
  const target = targets.case === 'listTargets' ? targets.value.targets[0] : undefined;
  assert.deepEqual(
    [target?.name, target?.adapter, target?.nodes, target?.running, target?.queued],
    ['echo', 'mock', ['a'], 1, 1],
  );
  node.runs[0]?.end(completed);
  await until('the first has ended', () => first.end !== undefined);
  const list = async (over: object) => {
    const runs = await operator.ask({ case: 'listRuns', value: create(ListRunsRequestSchema, over) });
    return runs.case === 'listRuns' ? runs.value.runs : [];
  };
  const all = await list({});
  assert.deepEqual(
    all.map((run) => run.runId),
    [second.id, first.id],
  );
  assert.equal(all[1]?.state, RunState.COMPLETED);
  assert.equal(all[1]?.end?.end.case, 'completed');
  assert.deepEqual(
    [all[1]?.model, all[1]?.door, all[1]?.keyId, all[1]?.node],
    ['echo', 'openai', 'key', 'a'],
  );
  assert.ok(Number(all[1]?.endedAt) >= Number(all[1]?.createdAt));
  assert.deepEqual(
    (await list({ states: [RunState.COMPLETED] })).map((run) => run.runId),
    [first.id],
  );
  assert.deepEqual(
    (await list({ before: second.id })).map((run) => run.runId),
    [first.id],
  );
});

test('an operator starts a run, sees its events by pos, and its end', limit, async () => {
  await using world = await createWireWorld();
  const node = await world.readyNode('a');
  const operator = await local(world);
  const answer = await operator.ask(startRequest(), 7);
  const runId = answer.case === 'startRun' ? answer.value.runId : '';
  await until('the Node has it', () => node.runs.length === 1);
  assert.deepEqual([node.runs[0]?.request.door, node.runs[0]?.request.dialect], ['native', 'iop.prompt']);
  for (const text of ['one ', 'two ', 'three']) node.runs[0]?.say(text);
  node.runs[0]?.end(completed);
  await until('it has ended', () => endOf(operator.updates(7)) !== undefined);
  const updates = operator.updates(7);
  assert.equal(textOf(updates), 'one two three');
  assert.deepEqual(endOf(updates), completed);
  const positions = updates.flatMap(({ firstPos, events }) => events.map((_, i) => firstPos + i));
  assert.deepEqual(positions, [2, 3, 4, 5], 'pos 1 is the attempt, which an owner is not told');
  assert.ok(updates.every((update) => update.runId === runId));
  assert.equal(updates[0]?.state, RunState.STARTING);
  assert.equal(updates[0]?.node, 'a');
  assert.equal(updates.at(-1)?.state, RunState.COMPLETED);
  await until('nothing more comes', () => operator.received.at(-1)?.case === 'operatorStop');
  const record = (await world.edge.listRuns({ limit: 1, states: [], before: undefined }))[0];
  assert.deepEqual([record?.keyId, record?.asked, record?.adapter], ['alice', '', 'mock']);
});

test('a failure says up to which event it got', limit, async () => {
  await using world = await createWireWorld();
  const node = await world.readyNode('a');
  const operator = await local(world);
  await operator.ask(startRequest(), 7);
  await until('the Node has it', () => node.runs.length === 1);
  node.runs[0]?.say('half');
  const failure = {
    kind: 'unavailable',
    code: 'upstream.cut',
    message: 'cut',
    details: {},
    retryable: true,
  } as const;
  node.runs[0]?.end({ kind: 'failed', failure });
  await until('it has ended', () => endOf(operator.updates(7)) !== undefined);
  const last = operator.updates(7).at(-1)?.events[0]?.kind;
  assert.equal(last?.case === 'end' && last.value.end.case === 'failed' && last.value.end.value.afterPos, 2);
});

test('a run ends with its operator: by a stop, and when the link closes', limit, async () => {
  await using world = await createWireWorld();
  const node = await world.readyNode('a');
  const operator = await local(world);
  await operator.ask(startRequest(), 1);
  await operator.ask(startRequest(), 2);
  await until('the Node has both', () => node.runs.length === 2);
  operator.stop(1);
  await until('the first is cancelled', () => node.runs[0]?.cancelledBy === 'caller');
  assert.equal(node.runs[1]?.cancelledBy, undefined);
  operator.link.destroy('gone');
  await until('the second is cancelled', () => node.runs[1]?.cancelledBy === 'caller');
  for (const run of node.runs) run.end({ kind: 'cancelled', by: 'caller' });
  await until('nothing is left', () => world.edge.gauges().runsActive === 0);
});

test('an operator cancels any run, and is told what became of it', limit, async () => {
  await using world = await createWireWorld();
  const node = await world.readyNode('a');
  const operator = await local(world);
  const run = world.start();
  await until('the Node has it', () => node.runs.length === 1);
  const cancel = async (runId: string) => {
    const answer = await operator.ask({
      case: 'cancelRun',
      value: create(CancelRunRequestSchema, { runId }),
    });
    return answer.case === 'cancelRun' ? answer.value.state : failureCode(answer);
  };
  assert.equal(await cancel(run.id), RunState.STOPPING);
  await until('the Node is told', () => node.runs[0]?.cancelledBy === 'operator');
  node.runs[0]?.end({ kind: 'cancelled', by: 'operator' });
  await until('it has ended', () => run.end !== undefined);
  assert.equal(await cancel(run.id), RunState.CANCELLED);
  assert.equal(await cancel('run_none'), 'run.unknown');
});

test('keys are made, listed and revoked', limit, async () => {
  await using world = await createWireWorld();
  const operator = await local(world);
  const made = await operator.ask({
    case: 'createKey',
    value: create(CreateKeyRequestSchema, { name: 'laptop' }),
  });
  const secret = made.case === 'createKey' ? made.value.secret : '';
  const id = made.case === 'createKey' ? (made.value.key?.id ?? '') : '';
  assert.deepEqual(world.edge.checkKey(secret), { kind: 'valid', keyId: id });
  const revoke = (key: string) =>
    operator.ask({ case: 'revokeKey', value: create(RevokeKeyRequestSchema, { id: key }) });
  const revoked = await revoke(id);
  assert.equal(revoked.case === 'revokeKey' && revoked.value.key?.revoked, true);
  assert.equal(world.edge.checkKey(secret).kind, 'revoked');
  assert.equal(failureCode(await revoke('nokey')), 'key.unknown');
  await world.restart();
  assert.equal(world.edge.checkKey(secret).kind, 'revoked', 'also after a restart');
  const again = await local(world);
  const list = await again.ask({ case: 'listKeys', value: create(ListKeysRequestSchema) });
  const keys = list.case === 'listKeys' ? list.value.keys : [];
  assert.deepEqual(
    keys.map((key) => [key.id, key.name, key.revoked]),
    [[id, 'laptop', true]],
  );
});

test('what cannot be started is refused with a reason', limit, async () => {
  await using world = await createWireWorld({ settings: settingsOf({}, { queue: 0, nodeConcurrency: 1 }) });
  const operator = await local(world);
  const refused = async (over: Parameters<typeof startRequest>[0]) =>
    failureCode(await operator.ask(startRequest(over)));
  assert.equal(await refused({ target: '' }), 'run.target-missing');
  assert.equal(await refused({ dialect: 'klingon' }), 'run.dialect-unknown');
  assert.equal(await refused({ body: new Uint8Array(512 * 1024 + 1) }), 'run.body-too-large');
  assert.equal(await refused({ runClass: RunClass.DETACHED }), 'target.unknown');
  assert.equal(await refused({}), 'target.unknown');
  await world.readyNode('a');
  assert.equal(await refused({ node: 'b' }), 'target.no-node');
  assert.equal(await refused({ dialect: 'openai.embeddings' }), 'target.dialect');
  assert.equal((await operator.ask(startRequest(), 5)).case, 'startRun');
  assert.equal(failureCode(await operator.ask({ case: undefined })), 'operator.unknown-request');
  assert.equal(await refused({}), 'queue.full');
});

test('an id that still owns a run is not taken again', limit, async () => {
  await using world = await createWireWorld();
  await world.readyNode('a');
  const operator = await local(world);
  await operator.ask(startRequest(), 5);
  operator.received.length = 0;
  assert.equal(failureCode(await operator.ask(startRequest(), 5)), 'operator.id-used');
});

test('what an operator must not send is answered, and the link goes on', limit, async () => {
  await using world = await createWireWorld();
  const operator = await local(world);
  operator.send({
    case: 'runAccepted',
    value: { $typeName: 'iop.wire.v1.RunAccepted', runId: 'x', attempt: 1 },
  });
  await until('it is told', () => operator.received.some((each) => each.case === 'protocolError'));
  operator.send({ case: 'pong', value: create(PongSchema, { id: 1 }) });
  const answer = await operator.ask({ case: 'listNodes', value: create(ListNodesRequestSchema) });
  assert.equal(answer.case, 'listNodes');
});

test(
  'E10: an operator that reads nothing holds up its own run, not the memory of the Edge',
  limit,
  async () => {
    await using world = await createWireWorld();
    const node = await world.readyNode('a');
    const paused = Promise.withResolvers<void>();
    const dial = dialUnix({ path: world.socketPath });
    const operator = await linkOperator({
      dial: async (signal) => {
        const transport = await dial(signal);
        void paused.promise.then(() => transport.pause());
        return transport;
      },
      pins: [],
      token: '',
    });
    await operator.ask(startRequest(), 1);
    await until('the Node has it', () => node.runs.length === 1);
    paused.resolve();
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (let i = 0; i < 400; i++) node.runs[0]?.say('x'.repeat(16 * 1024));
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.ok((node.runs[0]?.outbox.waitingBytes ?? 0) > 4_000_000, 'most of it still waits at the Node');
    const other = world.start();
    await until('the Node has the other', () => node.runs.length === 2);
    node.runs[1]?.end(completed);
    await until('the other has ended', () => other.end !== undefined);
    operator.link.destroy('gone');
    await until('it is cancelled', () => node.runs[0]?.cancelledBy === 'caller');
    assert.equal(codeOf(other.end), 'completed');
  },
);
