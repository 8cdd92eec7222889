import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { attemptEvent, batchOf, completedEvent, plain, rawEvent, readAll } from './run-log.contract.ts';
import type { RunLog } from './run-log.ts';
import type { Claim, Creation, RunOrder, RunOrders } from './run-orders.ts';
import { endedRecord, recordOf } from './run-records.contract.ts';
import type { RunRecords } from './run-records.ts';

export interface RunOrdersHarness extends AsyncDisposable {
  orders: RunOrders;
  records: RunRecords;
  log: RunLog;
}

export function keptOrder(over: Partial<RunOrder> = {}): RunOrder {
  return {
    runId: 'run_1',
    select: { kind: 'model', model: 'qwen' },
    dialect: 'openai.chat',
    body: new TextEncoder().encode('{"model":"qwen"}'),
    stream: true,
    includeUsage: false,
    raw: undefined,
    deadlineMs: 0,
    asked: undefined,
    ...over,
  };
}

export function claimOf(over: Partial<Claim> = {}): Claim {
  return { scope: 'key openai', key: 'k1', bodyHash: 'aa', claimedAtMs: 1_764_000_000_000, ...over };
}

export function creationOf(runId: string, claim?: Claim): Creation {
  const record = recordOf({ runId, state: 'queued', runClass: 'detached', stored: true });
  return claim === undefined
    ? { record, order: keptOrder({ runId }) }
    : { record, order: keptOrder({ runId }), claim };
}

const dayMs = 24 * 3_600_000;

/** What every `RunOrders` keeps. */
export function runOrdersContract(name: string, setUp: () => Promise<RunOrdersHarness>): void {
  describe(`run orders: ${name}`, () => {
    test('an order comes back as it was kept, in each of its parts', async () => {
      await using harness = await setUp();
      const { orders, records } = harness;
      const full = keptOrder({
        runId: 'run_2',
        select: { kind: 'target', adapter: 'vllm', target: 'x', node: 'gpu-1' },
        dialect: 'openai.raw',
        body: new Uint8Array([0, 1, 255]),
        stream: false,
        includeUsage: true,
        raw: { path: 'rerank', contentType: 'application/json' },
        deadlineMs: 90_000,
        asked: new Uint8Array([9]),
      });
      for (const order of [keptOrder(), full]) {
        records.save(recordOf({ runId: order.runId, stored: true }));
        orders.keep(order);
        assert.deepEqual(plainOrder(await orders.find(order.runId)), plainOrder(order));
      }
      assert.deepEqual(plainOrder(await orders.find('run_1')), plainOrder(keptOrder()));
      assert.equal(await orders.find('run_none'), undefined);
    });

    test('O1: a creation is there as a whole: its record, its order, its log can go on', async () => {
      await using harness = await setUp();
      const { orders, records, log } = harness;
      assert.deepEqual(await orders.create(creationOf('run_1')), { kind: 'created' });
      assert.deepEqual(await records.find('run_1'), creationOf('run_1').record);
      assert.deepEqual(plainOrder(await orders.find('run_1')), plainOrder(keptOrder()));
      log.append(batchOf({ events: [attemptEvent] }));
      assert.equal((await readAll(log, 'run_1')).length, 1);
    });

    test('O1: of many creations with one claim exactly one is created', async () => {
      await using harness = await setUp();
      const { orders, records } = harness;
      const ids = Array.from({ length: 50 }, (_, i) => `run_${i + 10}`);
      const outcomes = await Promise.all(ids.map((id) => orders.create(creationOf(id, claimOf()))));
      const winner = ids[outcomes.findIndex((outcome) => outcome.kind === 'created')];
      assert.equal(outcomes.filter((outcome) => outcome.kind === 'created').length, 1);
      for (const outcome of outcomes) {
        if (outcome.kind === 'claimed') assert.deepEqual([outcome.runId, outcome.bodyHash], [winner, 'aa']);
      }
      const all = await records.list({ limit: 100, states: [], before: undefined });
      assert.deepEqual(
        all.map((record) => record.runId),
        [winner],
      );
      assert.equal(await orders.find(ids.find((id) => id !== winner) ?? ''), undefined);
    });

    test('another scope or key is another claim; another body is told with the first one’s hash', async () => {
      await using harness = await setUp();
      const { orders } = harness;
      const create = (runId: string, over: Partial<Claim>) => orders.create(creationOf(runId, claimOf(over)));
      assert.equal((await create('run_1', {})).kind, 'created');
      assert.equal((await create('run_2', { scope: 'other openai' })).kind, 'created');
      assert.equal((await create('run_3', { key: 'k2' })).kind, 'created');
      assert.deepEqual(await create('run_4', { bodyHash: 'bb' }), {
        kind: 'claimed',
        runId: 'run_1',
        bodyHash: 'aa',
      });
    });

    test('a claim is forgotten after 24 hours', async () => {
      await using harness = await setUp();
      const { orders } = harness;
      const at = (ms: number) => claimOf({ claimedAtMs: claimOf().claimedAtMs + ms });
      assert.equal((await orders.create(creationOf('run_1', at(0)))).kind, 'created');
      assert.equal((await orders.create(creationOf('run_2', at(dayMs - 1)))).kind, 'claimed');
      assert.equal((await orders.create(creationOf('run_3', at(dayMs)))).kind, 'created');
      assert.equal((await orders.create(creationOf('run_4', at(dayMs + 1)))).kind, 'claimed');
    });

    test('a claim is taken over from the run that it replaces, by one only', async () => {
      await using harness = await setUp();
      const { orders } = harness;
      await orders.create(creationOf('run_1', claimOf()));
      const replaces = claimOf({ replaces: 'run_1', bodyHash: 'bb' });
      const outcomes = await Promise.all(
        ['run_2', 'run_3'].map((runId) => orders.create(creationOf(runId, replaces))),
      );
      assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ['claimed', 'created']);
      const other = await orders.create(creationOf('run_4', claimOf({ replaces: 'run_1' })));
      assert.ok(other.kind === 'claimed' && other.runId !== 'run_1' && other.bodyHash === 'bb');
    });

    test('O2: content and order go together; record, own events and other runs stay', async () => {
      await using harness = await setUp();
      const { orders, records, log } = harness;
      for (const runId of ['run_1', 'run_2']) {
        await orders.create(creationOf(runId));
        const events = [attemptEvent, rawEvent('a'), rawEvent('b'), completedEvent];
        log.append(batchOf({ runId, events, lastSeq: 3 }));
        records.save(endedRecord({ runId, runClass: 'detached', stored: true }));
      }
      await orders.deleteContent('run_1');
      assert.equal(await orders.find('run_1'), undefined);
      const left = await readAll(log, 'run_1');
      assert.deepEqual(
        left.map(({ pos }) => pos),
        [1, 4],
      );
      assert.deepEqual(plain(left.map(({ event }) => event)), plain([attemptEvent, completedEvent]));
      const record = await records.find('run_1');
      assert.deepEqual([record?.state, record?.stored], ['completed', false]);
      assert.equal((await readAll(log, 'run_2')).length, 4);
      assert.notEqual(await orders.find('run_2'), undefined);
      await orders.deleteContent('run_1');
      await orders.deleteContent('run_none');
    });
  });
}

function plainOrder(order: RunOrder | undefined): unknown {
  return order && { ...order, body: [...order.body], asked: order.asked && [...order.asked] };
}
