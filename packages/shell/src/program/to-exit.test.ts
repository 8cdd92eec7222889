import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorKind, errorKinds, IopError } from '@iop/domain';
import { formatError } from './format-error.ts';
import { exitOfEnd, toExit } from './to-exit.ts';

const errorOf = (kind: ErrorKind, code = 'x'): IopError => new IopError({ kind, code, message: 'm' });

test('every kind of error has its exit code', () => {
  const codes = Object.fromEntries(errorKinds.map((kind) => [kind, toExit(errorOf(kind))]));
  assert.deepEqual(codes, {
    invalid: 64,
    unauthenticated: 78,
    forbidden: 78,
    'not-found': 64,
    conflict: 75,
    exhausted: 75,
    unavailable: 69,
    timeout: 75,
    cancelled: 75,
    unsupported: 64,
    internal: 70,
  });
  assert.equal(toExit(errorOf('invalid', 'config.invalid')), 78);
  assert.equal(toExit(new TypeError('x')), 70);
});

test('a program that was stopped says by what', () => {
  assert.equal(toExit(errorOf('cancelled'), 'SIGINT'), 130);
  assert.equal(toExit(errorOf('cancelled'), 'SIGTERM'), 143);
  assert.equal(toExit(errorOf('unavailable'), 'SIGINT'), 69);
  assert.deepEqual([exitOfEnd('SIGINT', true), exitOfEnd('SIGTERM', true)], [0, 0]);
  assert.deepEqual([exitOfEnd(undefined), exitOfEnd('SIGTERM'), exitOfEnd('SIGINT')], [0, 0, 130]);
});

test('a program that stands for another one ends as that one did', () => {
  const error = new IopError({
    kind: 'unavailable',
    code: 'part.ended',
    message: 'm',
    details: { exitCode: 78 },
  });
  assert.equal(toExit(error), 78);
  assert.equal(
    toExit(new IopError({ kind: 'timeout', code: 'x', message: 'm', details: { exitCode: '78' } })),
    75,
  );
});

test('an error for programs is one JSON line without cause or stack', () => {
  const error = new IopError({
    kind: 'invalid',
    code: 'a.b',
    message: 'm',
    details: { n: 1 },
    cause: new Error('secret'),
  });
  assert.equal(
    formatError(error, 'iop', true),
    '{"error":{"kind":"invalid","code":"a.b","message":"m","details":{"n":1}}}\n',
  );
});

test('only a bug shows a stack', () => {
  assert.equal(formatError(errorOf('timeout'), 'iop', false), 'iop: m\n');
  assert.match(formatError(new TypeError('boom'), 'iop', false), /iop: boom\nThis is a bug[\s\S]*at /);
});
