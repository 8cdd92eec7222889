import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSchedstat, parseStatTicks } from './cpu-time.ts';
import { parseStatus } from './memory.ts';

test('time on the CPU is the first number of schedstat; a process that is gone counts nothing', () => {
  assert.equal(parseSchedstat('176581 123251 2\n'), 176581);
  assert.equal(parseSchedstat(''), 0);
});

test('ticks are found behind a name with blanks and parentheses', () => {
  const stat = '42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 30 12 0 0 20 0 1 0 100 0 0';
  assert.equal(parseStatTicks(stat), 42);
});

test('memory is read from status in bytes', () => {
  const status = 'Name:\tnode\nVmRSS:\t   90000 kB\nRssAnon:\t   36000 kB\nRssFile:\t54000 kB\n';
  assert.deepEqual(parseStatus(status), { residentBytes: 90000 * 1024, anonymousBytes: 36000 * 1024 });
  assert.deepEqual(parseStatus(''), { residentBytes: 0, anonymousBytes: 0 });
});
