export type { Clock } from './clock.ts';
export {
  type ErrorDetails,
  type ErrorKind,
  errorKinds,
  IopError,
  type IopErrorInit,
  isIopError,
  type RetryAdvice,
  retryOf,
  toIopError,
} from './errors.ts';
export { formatRunId, isName, isRunId, runIdTimeMs } from './ids.ts';
export { LiveMap } from './live-map.ts';
export {
  type CancelCause,
  cancelCauses,
  type FinishReason,
  finishReasons,
  type RunEnd,
  type RunFailure,
  type Usage,
} from './run-end.ts';
export { canTransition, isRunEndState, type RunEndState, type RunState, runStates } from './run-state.ts';
