import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KeyView, noLimits } from '@iop/client';
import { parseLength, parseMoment, parseRate } from '../output/durations.ts';
import { changePolicy, namesLimit } from './key-policy.ts';
import { formatKeys } from './keys.ts';

const hour = 3_600_000;
const full = {
  targets: ['qwen'],
  concurrency: 4,
  rate: { runs: 60, perMs: 60_000, burst: 10 },
  expiresAtMs: 10 * hour,
  role: 'admin' as const,
};

test('every limit is read from its flag', () => {
  const options = {
    targets: 'qwen, gpu/*',
    concurrency: '4',
    rate: '60/m',
    burst: '5',
    expires: '2h',
    role: 'operator',
  };
  assert.deepEqual(changePolicy(noLimits, options, hour), {
    targets: ['qwen', 'gpu/*'],
    concurrency: 4,
    rate: { runs: 60, perMs: 60_000, burst: 5 },
    expiresAtMs: 3 * hour,
    role: 'operator',
  });
  assert.deepEqual(changePolicy(noLimits, { rate: '2/s' }, 0).rate, { runs: 2, perMs: 1000, burst: 2 });
});

test('what is not named stays, and each limit has a word that lifts it', () => {
  assert.deepEqual(changePolicy(full, {}, 0), full);
  assert.deepEqual(changePolicy(full, { burst: '3' }, 0).rate, { ...full.rate, burst: 3 });
  assert.deepEqual(changePolicy(full, { rate: '5/m' }, 0).rate, { runs: 5, perMs: 60_000, burst: 5 });
  const lift = { targets: 'all', concurrency: 'none', rate: 'none', expires: 'never', role: 'caller' };
  assert.deepEqual(changePolicy(full, lift, 0), noLimits);
  assert.deepEqual([namesLimit({}), namesLimit({ json: true }), namesLimit(lift)], [false, false, true]);
});

test('what cannot be read is refused with the flag and an example', () => {
  const wrong: [Record<string, string>, RegExp][] = [
    [{ concurrency: '0' }, /--concurrency takes a whole number from 1/],
    [{ rate: '60' }, /--rate takes runs a second, minute, hour or day, such as 60\/m/],
    [{ rate: '0/m' }, /--rate/],
    [{ burst: '3' }, /--burst goes with a rate/],
    [{ expires: 'soon' }, /--expires takes a length of time such as 12h, 30d or 2w, not soon/],
    [{ role: 'boss' }, /--role takes caller, operator, admin, not boss/],
    [{ expires: '2027-13-45' }, /--expires takes a date such as 2027-01-31/],
  ];
  for (const [options, message] of wrong) {
    assert.throws(() => changePolicy(noLimits, options, 0), { kind: 'invalid', code: 'usage', message });
  }
});

test('lengths, moments and rates', () => {
  assert.deepEqual(
    ['90s', '15m', '12h', '7d', '2w'].map((text) => parseLength(text, '-')),
    [90_000, 900_000, 12 * hour, 168 * hour, 336 * hour],
  );
  assert.equal(parseMoment('1970-01-02', '-', { nowMs: 0, direction: 1 }), 24 * hour);
  assert.equal(parseMoment('1h', '-', { nowMs: 5 * hour, direction: -1 }), 4 * hour);
  assert.deepEqual(parseRate('1000/d', '-'), { runs: 1000, perMs: 24 * hour });
});

test('a table of keys shows what limits them', () => {
  const key = { name: 'laptop', createdAtMs: 0, revoked: false, expired: false, running: 2 };
  const keys: KeyView[] = [
    { ...key, id: 'aaaaaaaa', policy: full },
    { ...key, id: 'bbbbbbbb', policy: { ...noLimits, expiresAtMs: hour }, expired: true },
    { ...key, id: 'cccccccc', policy: noLimits, revoked: true },
  ];
  assert.equal(
    formatKeys(keys, 2 * hour),
    [
      'ID        NAME    STATE    ROLE    CREATED  TARGETS  CONCURRENCY  RATE           EXPIRES  RUNNING',
      'aaaaaaaa  laptop  valid    admin   2 h ago  qwen     4            60/m burst 10  in 8 h   2',
      'bbbbbbbb  laptop  expired  caller  2 h ago  -        -            -              1 h ago  2',
      'cccccccc  laptop  revoked  caller  2 h ago  -        -            -              never    2',
      '',
    ].join('\n'),
  );
});
