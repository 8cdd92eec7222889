import { type CancelCause, cancelCauses } from '@iop/domain';

/** Who stopped a run: whoever aborts the signal of `execute` gives a `CancelCause` as its reason. */
export function cancelCauseOf(signal: AbortSignal): CancelCause {
  return cancelCauses.find((cause) => cause === signal.reason) ?? 'caller';
}
