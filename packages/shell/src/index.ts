export { type ConfigDeclaration, type ConfigOf, defineConfig } from './config/declaration.ts';
export { type ConfigRow, describeConfig, renderConfigDocs } from './config/describe-config.ts';
export { type ConfigInput, loadConfig, parseSettings } from './config/load-config.ts';
export { nearest } from './config/nearest.ts';
export {
  durationMs,
  type HostPort,
  hostPort,
  logSection,
  parseHostPort,
  port,
  section,
  sizeBytes,
} from './config/pieces.ts';
export { createLog, type Log, type LogFields, type LogOptions } from './log.ts';
export { type LogLevel, logLevels } from './log-levels.ts';
export {
  type Counter,
  createMetrics,
  type Gauge,
  type GaugeOptions,
  type Histogram,
  type HistogramOptions,
  type Labels,
  type MetricOptions,
  type Metrics,
} from './metrics.ts';
export { createRunIdSource, randomBytes } from './random.ts';
export { lockStateDir, type StateLock } from './state/lock.ts';
export { identityOf, isRunning, ownProcessIdentity, type ProcessIdentity } from './state/process-identity.ts';
export { readSecretFile, writeSecretFile } from './state/secret-file.ts';
export { keepPrivate, openStateDir } from './state/state-dir.ts';
export { createSystemClock } from './system-clock.ts';
