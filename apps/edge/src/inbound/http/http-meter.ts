import type { Metrics } from '@iop/shell';

/** Counts and times of the answers of one route. */
export interface RouteMeter {
  readonly route: string;
  /** From the head of the request to the first byte of a streamed answer. */
  firstByte(ms: number): void;
  answered(status: number, ms: number): void;
  /** The caller's connection closed before its answer had ended. */
  callerGone(): void;
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** @param open answers under way, read at every scrape */
export function createHttpMeter(metrics: Metrics, open: () => number): (route: string) => RouteMeter {
  metrics.gauge('http_answers_open', { help: 'Answers under way.', read: open });
  const requests = metrics.counter('http_requests_total', {
    help: 'Answers by route and status.',
    labelNames: ['route', 'status'],
  });
  const gone = metrics.counter('http_callers_gone_total', {
    help: 'Callers whose connection closed before their answer had ended.',
    labelNames: ['route'],
  });
  const answer = metrics.histogram('http_request_seconds', {
    help: 'From the head of a request to the end of its answer.',
    labelNames: ['route'],
    buckets: secondsBuckets,
  });
  const firstByte = metrics.histogram('http_first_byte_seconds', {
    help: 'From the head of a request to the first byte of its streamed answer.',
    labelNames: ['route'],
    buckets: secondsBuckets,
  });
  return (route) => {
    // Finding a labelled child costs more than counting with it, so each is found once.
    const byStatus = new Map<number, { inc(): void }>();
    const goneHere = gone.labels({ route });
    const answerHere = answer.labels({ route });
    const firstByteHere = firstByte.labels({ route });
    function count(status: number): void {
      const child = byStatus.get(status) ?? requests.labels({ route, status });
      byStatus.set(status, child);
      child.inc();
    }
    return {
      route,
      firstByte: (ms) => firstByteHere.observe(ms / 1000),
      answered(status, ms) {
        count(status);
        answerHere.observe(ms / 1000);
      },
      callerGone: () => goneHere.inc(),
    };
  };
}
