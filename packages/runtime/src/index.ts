export type { Adapter, EventSink, RetryBoundary, SessionKind } from './adapter.ts';
export { cancelCauseOf } from './cancel-cause.ts';
export {
  type Capabilities,
  type FactName,
  factNames,
  type TargetFact,
  type TargetInfo,
  type UpstreamLoad,
} from './capabilities.ts';
export { isContent, type RuntimeEvent, type RuntimeEventKind } from './event.ts';
export { type Dialect, dialects, type ExecutionSpec, isDialect, type RawRequest } from './spec.ts';
