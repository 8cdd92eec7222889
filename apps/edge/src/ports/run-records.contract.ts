import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatRunId } from '@iop/domain';
import type { RunRecord, RunRecords } from './run-records.ts';

export interface RunRecordsHarness extends AsyncDisposable {
  records: RunRecords;
}

export function recordOf(over: Partial<RunRecord> = {}): RunRecord {
  return {
    runId: 'run_1',
    state: 'starting',
    door: 'openai',
    keyId: 'key',
    asked: 'qwen',
    adapter: 'vllm',
    target: 'Qwen/Qwen3-8B',
    node: 'gpu-1',
    attempts: 1,
    route: 'only candidate',
    createdAtMs: 1_764_000_000_000,
    startedAtMs: undefined,
    endedAtMs: undefined,
    end: undefined,
    runClass: 'attached',
    stored: false,
    lastPos: 0,
    stopCause: undefined,
    nodeInstance: '',
    committed: false,
    stale: '',
    ...over,
  };
}

export function endedRecord(over: Partial<RunRecord> = {}): RunRecord {
  const usage = { promptTokens: 3, completionTokens: 4, estimated: false };
  const end = { kind: 'completed', finish: 'stop', usage } as const;
  return recordOf({ state: 'completed', startedAtMs: 5, endedAtMs: 6, end, ...over });
}

function idAt(timeMs: number, salt: number): string {
  return formatRunId(timeMs, new Uint8Array(10).fill(salt));
}

const all = { limit: 1000, states: [], before: undefined };

/** What every `RunRecords` keeps. */
export function runRecordsContract(name: string, setUp: () => Promise<RunRecordsHarness>): void {
  describe(`run records: ${name}`, () => {
    test('a record comes back as it was saved', async () => {
      await using harness = await setUp();
      const { records } = harness;
      const failure = {
        kind: 'unavailable',
        code: 'upstream.cut',
        message: 'cut ✂ “here”',
        details: { node: 'gpu-1', tries: 2, last: true },
        retryable: true,
      } as const;
      const each = [
        recordOf(),
        endedRecord({ runId: 'run_2' }),
        endedRecord({ runId: 'run_3', state: 'failed', end: { kind: 'failed', failure } }),
        endedRecord({ runId: 'run_4', state: 'cancelled', end: { kind: 'cancelled', by: 'caller' } }),
        recordOf({
          runId: 'run_5',
          runClass: 'detached',
          stopCause: 'operator',
          committed: true,
          lastPos: 7,
        }),
        endedRecord({ runId: 'run_6', stored: true, nodeInstance: 'i1', stale: 'gpu-1 said completed' }),
      ];
      for (const record of each) records.save(record);
      assert.deepEqual(await records.list(all), each.toReversed());
      assert.deepEqual(await records.find('run_3'), each[2]);
      assert.equal(await records.find('run_none'), undefined);
    });

    test('the newest state of a run is the one that counts', async () => {
      await using harness = await setUp();
      const { records } = harness;
      records.save(recordOf());
      records.save(endedRecord());
      assert.deepEqual(await records.list(all), [endedRecord()]);
      records.save(endedRecord({ attempts: 2 }));
      assert.equal((await records.find('run_1'))?.attempts, 2);
    });

    test('a list is newest first, by state, page by page', async () => {
      await using harness = await setUp();
      const { records } = harness;
      for (let i = 10; i < 60; i++) {
        const over = { runId: `run_${i}` };
        records.save(i % 2 === 0 ? recordOf(over) : endedRecord(over));
      }
      const ids = async (query: object) =>
        (await records.list({ ...all, ...query })).map((record) => record.runId);
      assert.deepEqual(await ids({ limit: 3 }), ['run_59', 'run_58', 'run_57']);
      assert.deepEqual(await ids({ limit: 2, states: ['completed'] }), ['run_59', 'run_57']);
      assert.deepEqual(await ids({ limit: 2, before: 'run_12' }), ['run_11', 'run_10']);
      assert.equal((await ids({ states: ['completed', 'starting'] })).length, 50);
    });

    test('usage is summed over ended runs, by key, model and node, since a moment', async () => {
      await using harness = await setUp();
      const { records } = harness;
      const startMs = 1_764_000_000_000;
      const usage = (promptTokens: number, estimated = false) => ({
        promptTokens,
        completionTokens: 2,
        estimated,
      });
      const save = (at: number, over: Partial<RunRecord>) =>
        records.save(endedRecord({ runId: idAt(startMs + at, at), createdAtMs: startMs + at, ...over }));
      save(1, { end: { kind: 'completed', finish: 'stop', usage: usage(10) } });
      save(2, {
        end: { kind: 'cancelled', by: 'caller', usage: usage(1, true) },
        state: 'cancelled',
        node: 'gpu-2',
      });
      save(3, {
        end: { kind: 'cancelled', by: 'caller' },
        state: 'cancelled',
        keyId: 'other',
        asked: '',
        node: '',
      });
      records.save(recordOf({ runId: idAt(startMs + 4, 4), createdAtMs: startMs + 4 }));
      const none = {
        failed: 0,
        cancelled: 0,
        promptTokens: 0,
        completionTokens: 0,
        estimated: 0,
        unmeasured: 0,
      };
      const byKey = {
        ...none,
        group: 'key',
        runs: 2,
        cancelled: 1,
        promptTokens: 11,
        completionTokens: 4,
        estimated: 1,
      };
      const other = { ...none, group: 'other', runs: 1, cancelled: 1, unmeasured: 1 };
      assert.deepEqual(await records.usage({ group: 'key', sinceMs: 0 }), [byKey, other]);
      const groups = async (group: 'model' | 'node', sinceMs = 0) =>
        (await records.usage({ group, sinceMs })).map((sum) => [sum.group, sum.runs]);
      assert.deepEqual(await groups('model'), [
        ['qwen', 2],
        ['vllm/Qwen/Qwen3-8B', 1],
      ]);
      assert.deepEqual(await groups('node'), [
        ['gpu-1', 1],
        ['gpu-2', 1],
        ['', 1],
      ]);
      assert.deepEqual(await groups('model', startMs + 2), [
        ['qwen', 1],
        ['vllm/Qwen/Qwen3-8B', 1],
      ]);
      assert.deepEqual(await groups('model', startMs + 5), []);
    });

    test('a committed record is there', async () => {
      await using harness = await setUp();
      const { records } = harness;
      records.save(recordOf());
      await records.commit(recordOf({ stopCause: 'operator' }));
      assert.equal((await records.find('run_1'))?.stopCause, 'operator');
      await Promise.all([1, 2, 3].map((i) => records.commit(recordOf({ runId: `run_${i}` }))));
      assert.equal((await records.list(all)).length, 3);
    });

    test('what a Node said too late stays with the record, whoever saves it then', async () => {
      await using harness = await setUp();
      const { records } = harness;
      records.save(endedRecord());
      records.noteStale('run_1', 'gpu-1 said completed');
      assert.deepEqual(await records.find('run_1'), endedRecord({ stale: 'gpu-1 said completed' }));
      records.save(endedRecord());
      assert.equal((await records.find('run_1'))?.stale, 'gpu-1 said completed');
      records.noteStale('run_none', 'nobody knows it');
      assert.equal(await records.find('run_none'), undefined);
    });

    test('flush resolves when all is written, also when nothing was saved', async () => {
      await using harness = await setUp();
      await harness.records.flush();
      for (let i = 0; i < 5000; i++) harness.records.save(endedRecord({ runId: `run_${10_000 + i}` }));
      await harness.records.flush();
      assert.equal((await harness.records.list(all)).length, 1000);
    });
  });
}
