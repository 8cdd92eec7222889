import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rankSelfTime } from './self-time.ts';

test('self time is summed by function, without idle time', () => {
  const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 9 });
  const ranked = rankSelfTime({
    nodes: [
      { id: 1, callFrame: frame('(idle)') },
      { id: 2, callFrame: frame('relay', 'file:///x/packages/link/src/a.ts') },
      { id: 3, callFrame: frame('relay', 'file:///x/packages/link/src/a.ts') },
      { id: 4, callFrame: frame('writev') },
    ],
    samples: [1, 2, 3, 4],
    timeDeltas: [500, 10, 20, 10],
  });
  assert.deepEqual(ranked, [
    { name: 'relay packages/link/src/a.ts:10', selfUs: 30, share: 0.75 },
    { name: 'writev', selfUs: 10, share: 0.25 },
  ]);
});
