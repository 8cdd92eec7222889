import type { RunEnd, RunState } from '@iop/domain';
import {
  fromEndEvent,
  fromWireRunState,
  type KeyInfo,
  type NodeInfo,
  type RunInfo,
  type TargetInfo,
} from '@iop/wire';

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
}

export interface TargetView {
  /** As at the OpenAI door. */
  name: string;
  adapter: string;
  target: string;
  nodes: readonly string[];
  running: number;
  queued: number;
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
  keyId: string;
  createdAtMs: number | undefined;
  startedAtMs: number | undefined;
  endedAtMs: number | undefined;
  /** Undefined: it goes on. */
  end: RunEnd | undefined;
}

export interface KeyView {
  id: string;
  name: string;
  createdAtMs: number | undefined;
  revoked: boolean;
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
    adapters: info.adapters.map(({ name: adapter, kind, healthy, detail: why, targets }) => ({
      name: adapter,
      kind,
      healthy,
      detail: why,
      targets: [...targets],
    })),
    lastSeenMs: fromTime(info.lastSeen),
    labels: { ...info.labels },
    detail,
  };
}

export function toTargetView(info: TargetInfo): TargetView {
  const { name, adapter, target, nodes, running, queued } = info;
  return { name, adapter, target, nodes: [...nodes], running, queued };
}

export function toRunView(info: RunInfo): RunView {
  const { runId, door, adapter, target, model, node, attempts, keyId } = info;
  return {
    runId,
    state: fromWireRunState(info.state),
    door,
    adapter,
    target,
    model,
    node,
    attempts,
    keyId,
    createdAtMs: fromTime(info.createdAt),
    startedAtMs: fromTime(info.startedAt),
    endedAtMs: fromTime(info.endedAt),
    end: info.end === undefined ? undefined : fromEndEvent(info.end),
  };
}

export function toKeyView(info: KeyInfo): KeyView {
  return { id: info.id, name: info.name, createdAtMs: fromTime(info.createdAt), revoked: info.revoked };
}

/** The wire writes times as decimal text, because its integers have 32 bits. */
function fromTime(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}
