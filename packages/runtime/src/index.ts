export type { Adapter, EventSink, RetryBoundary, SessionKind } from './adapter.ts';
export { cancelCauseOf } from './cancel-cause.ts';
export type { Capabilities, TargetInfo } from './capabilities.ts';
export { isContent, type RuntimeEvent, type RuntimeEventKind } from './event.ts';
export { type Dialect, dialects, type ExecutionSpec, isDialect } from './spec.ts';
