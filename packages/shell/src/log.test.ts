import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from './log.ts';

function collect(level: 'debug' | 'info') {
  const lines: string[] = [];
  const log = createLog({ name: 'iop-edge', level, destination: { write: (line) => void lines.push(line) } });
  return { log, read: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

test('a line is one JSON object with a time, a level in words and its fields', () => {
  const { log, read } = collect('info');
  log.child({ node: 'n1' }).info({ run: 'r1' }, 'dispatched');
  const [line] = read();
  assert.match(String(line?.time), /^\d{4}-\d\d-\d\dT/);
  assert.deepEqual(
    { ...line, time: undefined },
    { time: undefined, level: 'info', name: 'iop-edge', node: 'n1', run: 'r1', msg: 'dispatched' },
  );
});

test('lines below the level are not written', () => {
  const { log, read } = collect('info');
  log.debug({}, 'quiet');
  assert.deepEqual(read(), []);
});

test('what is named like a secret is masked', () => {
  const { log, read } = collect('debug');
  log.warn({ token: 'abc', hello: { authorization: 'Bearer x' } }, 'odd');
  const [line] = read();
  assert.equal(line?.token, '[hidden]');
  assert.deepEqual(line?.hello, { authorization: '[hidden]' });
});
