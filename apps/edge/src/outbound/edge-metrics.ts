import type { Counter, Metrics } from '@iop/shell';
import type { Edge } from '../core/edge.ts';

export interface EdgeMetricsDeps {
  metrics: Metrics;
  edge: Pick<Edge, 'counters' | 'gauges'>;
  store: { droppedRecords(): number; lagMs(): number };
}

/** The core counts in plain numbers; they are brought to the registry when somebody looks. */
export function createEdgeMetrics({ metrics, edge, store }: EdgeMetricsDeps): Metrics {
  const { counters } = edge;
  gauge('nodes_known', 'Nodes that ever enrolled here.', () => edge.gauges().nodesKnown);
  gauge('nodes_ready', 'Nodes that take runs now.', () => edge.gauges().nodesReady);
  gauge('runs_active', 'Runs without an end, queued ones included.', () => edge.gauges().runsActive);
  gauge('runs_queued', 'Runs that wait for a place.', () => edge.gauges().runsQueued);
  gauge('store_lag_seconds', 'Age of the oldest record not written yet.', () => store.lagMs() / 1000);
  const mirrors = [
    mirror('runs_started_total', 'Runs that were taken.', () => counters.started),
    mirror('runs_redispatched_total', 'Further attempts of runs.', () => counters.redispatched),
    mirror('events_relayed_total', 'Events passed from Nodes to owners.', () => counters.events),
    mirror('stale_signals_total', 'Signals of attempts that were over.', () => counters.stale),
    mirror('links_up_total', 'Links of Nodes that became live.', () => counters.linksUp),
    mirror('links_down_total', 'Links of Nodes that ended.', () => counters.linksDown),
    mirror('breakers_opened_total', 'Times that a place was closed to runs.', () => counters.breakersOpened),
    mirror('targets_appeared_total', 'Targets that Nodes began to offer.', () => counters.targetsAppeared),
    mirror('targets_gone_total', 'Targets that Nodes ceased to offer.', () => counters.targetsGone),
    mirror('store_records_dropped_total', 'Records given up.', () => store.droppedRecords()),
    mirrorEnds(metrics, edge),
    mirrorRefusals(metrics, edge),
  ];

  function gauge(name: string, help: string, read: () => number): void {
    metrics.gauge(name, { help, read });
  }

  function mirror(name: string, help: string, read: () => number): () => void {
    return mirrorOf(metrics.counter(name, { help }), read);
  }

  return {
    ...metrics,
    async text() {
      for (const refresh of mirrors) refresh();
      return await metrics.text();
    },
  };
}

/** A counter that follows a number which only grows. */
function mirrorOf(counter: Pick<Counter, 'inc'>, read: () => number): () => void {
  let seen = 0;
  return () => {
    const value = read();
    counter.inc(value - seen);
    seen = value;
  };
}

function mirrorEnds(metrics: Metrics, { counters }: EdgeMetricsDeps['edge']): () => void {
  const counter = metrics.counter('runs_ended_total', {
    help: 'Runs by their end and its reason.',
    labelNames: ['end', 'reason'],
  });
  return mirrorEach(
    counters.ends,
    ({ kind, reason }) => counter.labels({ end: kind, reason }),
    (end) => end.count,
  );
}

function mirrorRefusals(metrics: Metrics, { counters }: EdgeMetricsDeps['edge']): () => void {
  const counter = metrics.counter('runs_refused_total', {
    help: 'Runs that were not taken, by reason.',
    labelNames: ['reason'],
  });
  return mirrorEach(
    counters.refused,
    (_count, reason) => counter.labels({ reason }),
    (count) => count,
  );
}

/** One mirror for each entry of a map that only grows. */
function mirrorEach<V>(
  source: ReadonlyMap<string, V>,
  open: (value: V, key: string) => Pick<Counter, 'inc'>,
  read: (value: V) => number,
): () => void {
  const mirrors = new Map<string, () => void>();
  return () => {
    for (const [key, value] of source) {
      let refresh = mirrors.get(key);
      if (refresh === undefined) {
        refresh = mirrorOf(open(value, key), () => read(source.get(key) ?? value));
        mirrors.set(key, refresh);
      }
      refresh();
    }
  };
}
