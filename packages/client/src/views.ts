import type { RunEnd, RunState } from '@iop/domain';
import { fromEndEvent, fromWireRunState, type NodeInfo, RunClass, type RunInfo } from '@iop/wire';
import { type LoadView, toLoadView } from './target-view.ts';

/** A Node as its Edge sees it. */
export interface NodeView {
  name: string;
  /** ready, configuring, draining, away */
  state: string;
  epoch: number;
  address: string;
  build: string;
  /** Runs on it now. */
  running: number;
  adapters: readonly AdapterView[];
  /** Milliseconds since 1970; undefined: never. */
  lastSeenMs: number | undefined;
  labels: Readonly<Record<string, string>>;
  /** Why it is not ready; empty: it is. */
  detail: string;
}

export interface AdapterView {
  name: string;
  kind: string;
  healthy: boolean;
  detail: string;
  targets: readonly string[];
  /** Undefined: its upstream does not say. */
  load: LoadView | undefined;
  /** Why it is given no runs for now; empty: nothing is wrong. */
  breaker: string;
}

export interface RunView {
  runId: string;
  state: RunState;
  door: string;
  adapter: string;
  target: string;
  /** The name that the caller asked for; empty where it asked for adapter and target. */
  model: string;
  node: string;
  attempts: number;
  /** Why it went to that Node. */
  route: string;
  keyId: string;
  createdAtMs: number | undefined;
  startedAtMs: number | undefined;
  endedAtMs: number | undefined;
  /** Undefined: it goes on. */
  end: RunEnd | undefined;
  runClass: 'attached' | 'detached';
  /** Content and request are kept for a retention of their own. */
  stored: boolean;
  /** pos of the newest event in its log. */
  lastPos: number;
  /** Who asked it to stop while it has not; empty: nobody. */
  stopCause: string;
  /** What a Node said of it after it had ended; empty: nothing. */
  stale: string;
}

export function toNodeView(info: NodeInfo): NodeView {
  const { name, state, epoch, address, build, running, detail } = info;
  return {
    name,
    state,
    epoch,
    address,
    build,
    running,
    adapters: info.adapters.map(({ name: adapter, kind, healthy, detail: why, targets, load, breaker }) => ({
      name: adapter,
      kind,
      healthy,
      detail: why,
      targets: [...targets],
      load: toLoadView(load),
      breaker,
    })),
    lastSeenMs: fromTime(info.lastSeen),
    labels: { ...info.labels },
    detail,
  };
}

export function toRunView(info: RunInfo): RunView {
  const { runId, door, adapter, target, model, node, attempts, route, keyId } = info;
  return {
    runId,
    state: fromWireRunState(info.state),
    door,
    adapter,
    target,
    model,
    node,
    attempts,
    route,
    keyId,
    createdAtMs: fromTime(info.createdAt),
    startedAtMs: fromTime(info.startedAt),
    endedAtMs: fromTime(info.endedAt),
    end: info.end === undefined ? undefined : fromEndEvent(info.end),
    runClass: info.runClass === RunClass.DETACHED ? 'detached' : 'attached',
    stored: info.stored,
    lastPos: info.lastPos,
    stopCause: info.stopCause,
    stale: info.stale,
  };
}

/** The wire writes times as decimal text, because its integers have 32 bits. */
export function fromTime(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}
