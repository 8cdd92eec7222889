import type { RunEnd } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';

/**
 * Where the events of one attempt go. Whoever hands a run to the Node brings it along.
 *
 * Invariant: `end` is called exactly once and is the last call.
 */
export interface RunChannel {
  /** False: the reader's window is full; nothing more should come until `whenRoom` calls. */
  emit(event: RuntimeEvent): boolean;
  /** Calls once as soon as there is room; at once (before returning) if there is room now. */
  whenRoom(callback: () => void): void;
  end(end: RunEnd): void;
}
