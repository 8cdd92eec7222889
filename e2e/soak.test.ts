// F32, for seconds: `npm run soak` goes on for minutes, and says how to play a seed again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHistory } from './soak/check/check-history.ts';
import { playSoak } from './soak/soak.ts';
import { tellStory } from './soak/tell-story.ts';

test('F32: forty seconds of faults under callers of every kind break no invariant', {
  timeout: 400_000,
}, async (t) => {
  const history = await playSoak({
    seed: 4,
    lastsMs: 40_000,
    atMostMs: 160_000,
    signal: t.signal,
    onProgress() {},
  });
  const violations = checkHistory(history);
  assert.equal(violations.map((violation) => tellStory(history, violation)).join('\n'), '');
  t.diagnostic(`${history.runs.length} runs, ${history.faults.length} faults`);
});
