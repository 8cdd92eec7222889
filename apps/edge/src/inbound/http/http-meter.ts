import type { Counter, Histogram, Metrics } from '@iop/shell';

type Child<M extends Counter | Histogram> = ReturnType<M['labels']>;

/** Counts and times of answers, by route and status. */
export interface HttpMeter {
  /** From the head of the request to the first byte of the answer. */
  firstByte(route: string, ms: number): void;
  answered(route: string, status: number, ms: number): void;
  /** The caller's connection closed before its answer had ended. */
  callerGone(route: string): void;
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** @param open answers under way, read at every scrape */
export function createHttpMeter(metrics: Metrics, open: () => number): HttpMeter {
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
    help: 'From the head of a request to the first byte of its answer.',
    labelNames: ['route'],
    buckets: secondsBuckets,
  });
  const requestsOf = remember((key) => {
    const [route = '', status = ''] = key.split('\n');
    return requests.labels({ route, status });
  });
  const goneOf = remember((route) => gone.labels({ route }));
  const answerOf = remember((route) => answer.labels({ route }));
  const firstByteOf = remember((route) => firstByte.labels({ route }));
  return {
    firstByte: (route, ms) => firstByteOf(route).observe(ms / 1000),
    answered(route, status, ms) {
      requestsOf(`${route}\n${status}`).inc();
      answerOf(route).observe(ms / 1000);
    },
    callerGone: (route) => goneOf(route).inc(),
  };
}

/** Looking a labelled child up costs more than counting with it. Routes and statuses are few. */
function remember<C extends Child<Counter> | Child<Histogram>>(make: (key: string) => C): (key: string) => C {
  const made = new Map<string, C>();
  return (key) => {
    let child = made.get(key);
    if (child === undefined) {
      child = make(key);
      made.set(key, child);
    }
    return child;
  };
}
