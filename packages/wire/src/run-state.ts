import type { RunState as DomainRunState } from '@iop/domain';
import { RunState } from './gen/iop/wire/v1/run_pb.ts';

const toWire: Readonly<Record<DomainRunState, RunState>> = {
  queued: RunState.QUEUED,
  starting: RunState.STARTING,
  running: RunState.RUNNING,
  waiting: RunState.WAITING,
  stopping: RunState.STOPPING,
  unknown: RunState.UNKNOWN,
  completed: RunState.COMPLETED,
  failed: RunState.FAILED,
  cancelled: RunState.CANCELLED,
};

const fromWire = new Map(Object.entries(toWire).map(([domain, wire]) => [wire, domain as DomainRunState]));

export function toWireRunState(state: DomainRunState): RunState {
  return toWire[state];
}

/** A state that this version does not know is `unknown`. */
export function fromWireRunState(state: RunState | number): DomainRunState {
  return fromWire.get(state as RunState) ?? 'unknown';
}
