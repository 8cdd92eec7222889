import { IopError } from '@iop/domain';
import {
  collectDefaultMetrics,
  Counter as PromCounter,
  Gauge as PromGauge,
  Histogram as PromHistogram,
  Registry,
} from 'prom-client';

export type Labels = Readonly<Record<string, string | number>>;

export interface MetricOptions {
  help: string;
  labelNames?: readonly string[];
}

export interface Counter {
  inc(value?: number): void;
  /** The counter of these label values: fetch it once where it is hot. */
  labels(labels: Labels): { inc(value?: number): void };
}

export interface Gauge {
  set(value: number): void;
  labels(labels: Labels): { set(value: number): void };
}

export interface GaugeOptions extends MetricOptions {
  /** Called at every scrape, instead of `set` at every change. */
  read?: () => number;
}

export interface Histogram {
  observe(value: number): void;
  labels(labels: Labels): { observe(value: number): void };
}

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds in the unit of the name, rising. */
  buckets: readonly number[];
}

export interface Metrics {
  /** `name` without the prefix; a counter ends in `_total`. */
  counter(name: string, options: MetricOptions): Counter;
  gauge(name: string, options: GaugeOptions): Gauge;
  /** Ends in its unit: `_seconds` or `_bytes`. */
  histogram(name: string, options: HistogramOptions): Histogram;
  /** All of them in the Prometheus text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** @param prefix `iop_edge_`, `iop_node_` */
export function createMetrics(prefix: string): Metrics {
  const registry = new Registry();
  // Memory, CPU, open files, event loop: under the names that every Node.js dashboard knows.
  collectDefaultMetrics({ register: registry });
  const common = (name: string, options: MetricOptions) => ({
    name: prefix + name,
    help: options.help,
    labelNames: [...(options.labelNames ?? [])],
    registers: [registry],
  });
  return {
    counter(name, options) {
      assertName(name, /_total$/, 'a counter ends in _total');
      return new PromCounter(common(name, options));
    },
    gauge(name, options) {
      assertName(name, /(?<!_total)$/, 'a gauge does not end in _total');
      return createGauge(common(name, options), options.read);
    },
    histogram(name, options) {
      assertName(name, /_(seconds|bytes)$/, 'a histogram ends in _seconds or _bytes');
      return new PromHistogram({ ...common(name, options), buckets: [...options.buckets] });
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

interface Common {
  name: string;
  help: string;
  labelNames: string[];
  registers: Registry[];
}

function createGauge(common: Common, read: (() => number) | undefined): Gauge {
  if (read === undefined) return new PromGauge(common);
  return new PromGauge({
    ...common,
    collect() {
      this.set(read());
    },
  });
}

function assertName(name: string, pattern: RegExp, rule: string): void {
  if (/^[a-z][a-z0-9_]*$/.test(name) && pattern.test(name)) return;
  throw new IopError({ kind: 'internal', code: 'metrics.name', message: `metric name ${name}: ${rule}` });
}
