import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlaceView, RunView, TargetView, UsageView } from '@iop/client';
import { formatRun } from './runs.ts';
import { formatTargets } from './targets.ts';
import { formatUsage } from './usage.ts';

const place: PlaceView = {
  node: 'gpu-1',
  state: 'ready',
  detail: '',
  running: 0,
  contextLength: 0,
  facts: [],
  load: undefined,
  breaker: '',
};

test('a table of targets shows where, what it can do, and what keeps runs away', () => {
  const target: TargetView = {
    name: 'qwen',
    adapter: 'vllm',
    target: 'Qwen/Qwen3-8B',
    nodes: ['gpu-1'],
    running: 1,
    queued: 2,
    contextLength: 32_768,
    facts: [
      { name: 'chat', holds: true, measured: false },
      { name: 'tools', holds: true, measured: true },
      { name: 'images', holds: false, measured: false },
    ],
    places: [
      { ...place, load: { running: 3, waiting: 1, cacheUse: 0.5 } },
      { ...place, node: 'gpu-2', state: 'away' },
      { ...place, node: 'gpu-3', breaker: 'breaker open for 4 s (x)' },
    ],
    aliases: [
      { name: 'fast', choice: 2, weight: 0 },
      { name: 'mix', choice: 1, weight: 3 },
    ],
  };
  const words = formatTargets([target]).split('\n')[1];
  assert.equal(
    words,
    'qwen   vllm     Qwen/Qwen3-8B  gpu-1(3+1) gpu-2(away) gpu-3  32768    1        2       fast#2 mix#1x3  chat tools* !images  gpu-3: breaker open for 4 s (x)',
  );
});

test('usage is summed up, and what is not exact is marked', () => {
  const row: UsageView = {
    group: 'aaaaaaaa',
    runs: 3,
    failed: 1,
    cancelled: 0,
    promptTokens: 10,
    completionTokens: 20,
    estimated: 0,
    unmeasured: 1,
  };
  assert.equal(
    formatUsage(
      [
        { ...row, name: 'kim' },
        { ...row, group: 'iop', estimated: 2, unmeasured: 0 },
      ],
      'key',
    ),
    [
      'KEY       NAME  RUNS  FAILED  CANCELLED  PROMPT  COMPLETION',
      'aaaaaaaa  kim   3     1       0          10      20          1 without tokens',
      'iop       -     3     1       0          ~10     ~20         2 estimated',
      'all             6     2       0          ~20     ~40',
      '',
    ].join('\n'),
  );
  assert.match(formatUsage([], 'model'), /No run has ended/);
});

test('one run is told with why it went where it went', () => {
  const view: RunView = {
    runId: 'run_1',
    state: 'completed',
    door: 'openai',
    adapter: 'vllm',
    target: 'Qwen/Qwen3-8B',
    model: 'fast',
    node: 'gpu-1',
    attempts: 2,
    route: 'alias fast: 2nd choice, only candidate; 1st: no Node up',
    keyId: 'aaaaaaaa',
    createdAtMs: 0,
    startedAtMs: 0,
    endedAtMs: 1500,
    end: {
      kind: 'completed',
      finish: 'stop',
      usage: { promptTokens: 1, completionTokens: 2, estimated: true },
    },
    runClass: 'attached',
    stored: true,
    lastPos: 7,
    stopCause: '',
    stale: '',
  };
  const words = formatRun(view, 60_000);
  assert.match(words, /^why there {3}alias fast: 2nd choice, only candidate; 1st: no Node up$/m);
  assert.match(words, /^class {7}attached, stored$/m);
  assert.match(words, /^events {6}7$/m);
  assert.doesNotMatch(words, /too late/);
  assert.match(formatRun({ ...view, stale: 'gpu-1 said: completed' }, 0), /^too late {4}gpu-1 said/m);
  assert.match(words, /^took {8}1\.5 s$/m);
  assert.match(words, /^tokens {6}1 prompt, 2 completion \(estimated\)$/m);
});
