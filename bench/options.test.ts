import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BenchOptions, parseOptions } from './options.ts';

test('without options everything is measured in five rounds', () => {
  const options = parse([]);
  assert.deepEqual(options.rows, ['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P10', 'P11', 'embeddings', 'cli']);
  assert.equal(options.scale.rounds, 5);
  assert.ok(options.targets.includes('iop-tls'));
  assert.match(options.jsonFile, /bench\/results\/last\.json$/);
});

test('rows, targets and rounds can be chosen, direct is always there', () => {
  const options = parse(['--only', 'P1,P3', '--targets', 'nginx', '--rounds', '9']);
  assert.deepEqual(options.rows, ['P1', 'P3']);
  assert.deepEqual(options.targets, ['direct', 'nginx']);
  assert.deepEqual([options.scale.rounds, options.scale.longRounds], [9, 3]);
});

test('what is unknown is refused with what is known', () => {
  assert.throws(() => parseOptions(['--only', 'P9']), /--only: P9 is unknown; known are P1, P2/);
  assert.throws(() => parseOptions(['--targets', 'caddy']), /caddy is unknown; known are direct, nginx/);
  assert.throws(() => parseOptions(['--rounds', '0']), /--rounds: 0 is not a whole number above 0/);
});

function parse(argv: readonly string[]): BenchOptions {
  const options = parseOptions(argv);
  assert.ok(options !== 'help');
  return options;
}
