import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';

test('metrics are written with their prefix in the Prometheus format', async () => {
  const metrics = createMetrics('iop_edge_');
  const runs = metrics.counter('runs_total', { help: 'Runs.', labelNames: ['door'] });
  runs.labels({ door: 'openai' }).inc();
  runs.labels({ door: 'openai' }).inc(2);
  metrics.gauge('nodes', { help: 'Nodes.', read: () => 7 });
  metrics.histogram('wait_seconds', { help: 'Wait.', buckets: [0.1, 1] }).observe(0.5);
  const text = await metrics.text();
  assert.match(text, /^iop_edge_runs_total\{door="openai"\} 3$/m);
  assert.match(text, /^iop_edge_nodes 7$/m);
  assert.match(text, /^iop_edge_wait_seconds_bucket\{le="1"\} 1$/m);
  assert.match(text, /^process_resident_memory_bytes \d/m);
});

test('two sets of metrics in one process do not meet', async () => {
  const one = createMetrics('iop_a_');
  one.counter('x_total', { help: 'x' }).inc();
  const text = await createMetrics('iop_b_').text();
  assert.doesNotMatch(text, /iop_a_/);
});

test('a name against the convention is refused', () => {
  const metrics = createMetrics('iop_edge_');
  assert.throws(() => metrics.counter('runs', { help: '' }), /ends in _total/);
  assert.throws(() => metrics.gauge('runs_total', { help: '' }), /does not end in _total/);
  assert.throws(() => metrics.histogram('wait', { help: '', buckets: [1] }), /_seconds or _bytes/);
});
