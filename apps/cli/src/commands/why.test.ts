import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunView, WhyView } from '@iop/client';
import { formatWhy } from './why.ts';

const run: RunView = {
  runId: 'run_1',
  state: 'completed',
  door: 'openai',
  adapter: 'vllm',
  target: 'Qwen/Qwen3-8B',
  model: 'qwen',
  node: 'gpu-2',
  attempts: 2,
  route: '',
  keyId: 'aaaaaaaa',
  createdAtMs: 0,
  startedAtMs: 0,
  endedAtMs: 1,
  end: { kind: 'completed', finish: 'stop' },
  runClass: 'detached',
  stored: true,
  lastPos: 20,
  stopCause: '',
  stale: '',
};

const place = { adapter: 'vllm', target: 'Qwen/Qwen3-8B' };

test('a run tells its story: attempts, candidates and what dropped them, waits, ends', () => {
  const why: WhyView = {
    run: { ...run, stale: 'Node gpu-1 said completed of attempt 1' },
    waiting: '',
    changes: [{ pos: 8, state: 'unknown' }],
    attempts: [
      {
        ...place,
        attempt: 1,
        pos: 1,
        node: 'gpu-1',
        route: 'least busy of 2',
        waitedMs: 1500,
        events: 0,
        failure: { code: 'node.lost', message: 'Node gpu-1 was lost' },
        candidates: [
          { ...place, node: 'gpu-1', verdict: 'chosen', running: 1, limit: 4 },
          { ...place, node: 'gpu-2', verdict: 'busy', running: 4, limit: 4 },
          { ...place, node: 'gpu-3', verdict: 'away', running: 0, limit: 0 },
        ],
      },
      {
        ...place,
        attempt: 2,
        pos: 3,
        node: 'gpu-2',
        route: 'only candidate',
        waitedMs: 0,
        events: 1,
        failure: undefined,
        candidates: [],
      },
    ],
  };
  assert.equal(
    formatWhy(why),
    [
      'run         run_1 (detached, by the door openai)',
      'asked for   qwen',
      'state       completed',
      'attempt 1   gpu-1 vllm/Qwen/Qwen3-8B (pos 1)',
      '  because   least busy of 2',
      '  waited    1.5 s',
      '  of        gpu-1 vllm/Qwen/Qwen3-8B: chosen (1 of 4 running)',
      '  of        gpu-2 vllm/Qwen/Qwen3-8B: dropped: full (4 of 4 running)',
      '  of        gpu-3 vllm/Qwen/Qwen3-8B: dropped: its Node is not ready (0 running)',
      '  gave      0 events',
      '  over      node.lost: Node gpu-1 was lost',
      'attempt 2   gpu-2 vllm/Qwen/Qwen3-8B (pos 3)',
      '  because   only candidate',
      '  waited    not at all',
      '  gave      1 event',
      'then        the link of its Node went down (pos 8)',
      'end         completed: stop',
      'too late    Node gpu-1 said completed of attempt 1',
      '',
    ].join('\n'),
  );
});

test('a run that waits says for what, and one that is to stop who wants it', () => {
  const waiting = { ...run, state: 'queued', end: undefined, model: '', stopCause: 'operator' } as const;
  const words = formatWhy({ run: waiting, attempts: [], changes: [], waiting: 'for its turn' });
  assert.match(words, /^asked for {3}vllm\/Qwen\/Qwen3-8B$/m);
  assert.match(words, /^state {7}queued, asked to stop by operator$/m);
  assert.match(words, /^waits {7}for its turn$/m);
  assert.doesNotMatch(words, /^end/m);
});
