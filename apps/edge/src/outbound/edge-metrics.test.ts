import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '@iop/shell';
import { createEdgeFixture } from '../testing/edge-fixture.ts';
import { completed } from '../testing/fake-node.ts';
import { createEdgeMetrics } from './edge-metrics.ts';

test('what the core counts is shown, and looking twice counts nothing twice', async () => {
  const { edge, linkNode, start } = createEdgeFixture();
  const store = { droppedRecords: () => 3, lagMs: () => 1500 };
  const metrics = createEdgeMetrics({ metrics: createMetrics('iop_edge_'), edge, store });
  const node = linkNode('a');
  start();
  node.last().say('one', 'two');
  node.last().end(completed);
  start().cancel('caller');
  node.last().end({ kind: 'cancelled', by: 'caller' });
  const refused = { select: { kind: 'model', model: 'none' } } as const;
  assert.throws(() => start(refused), /unknown-target/);
  await metrics.text();
  const text = await metrics.text();
  for (const line of [
    'iop_edge_runs_started_total 2',
    'iop_edge_events_relayed_total 2',
    'iop_edge_runs_ended_total{end="completed",reason="stop"} 1',
    'iop_edge_runs_ended_total{end="cancelled",reason="caller"} 1',
    'iop_edge_runs_refused_total{reason="unknown-target"} 1',
    'iop_edge_links_up_total 1',
    'iop_edge_nodes_ready 1',
    'iop_edge_runs_active 0',
    'iop_edge_store_records_dropped_total 3',
    'iop_edge_store_lag_seconds 1.5',
  ]) {
    assert.ok(text.split('\n').includes(line), `${line} in\n${text}`);
  }
});
