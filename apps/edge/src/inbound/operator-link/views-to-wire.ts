import { isRunEndState } from '@iop/domain';
import {
  AdapterInfoSchema,
  create,
  type KeyInfo,
  KeyInfoSchema,
  type NodeInfo,
  NodeInfoSchema,
  RunClass,
  type RunInfo,
  RunInfoSchema,
  type TargetInfo,
  TargetInfoSchema,
  toEndEvent,
  toWireRunState,
} from '@iop/wire';
import type { NodeView, TargetView } from '../../core/views.ts';
import type { StoredKey } from '../../ports/key-store.ts';
import type { RunRecord } from '../../ports/run-records.ts';

export function toNodeInfo(node: NodeView): NodeInfo {
  const { name, state, detail, epoch, address, build, running } = node;
  return create(NodeInfoSchema, {
    name,
    state,
    detail,
    epoch,
    address,
    build,
    running,
    labels: { ...node.labels },
    lastSeen: toTime(node.lastSeenMs),
    adapters: node.adapters.map((adapter) =>
      create(AdapterInfoSchema, {
        name: adapter.name,
        kind: adapter.kind,
        healthy: adapter.healthy,
        detail: adapter.detail,
        targets: adapter.targets.map((target) => target.name),
      }),
    ),
  });
}

export function toTargetInfo({ nodes, ...target }: TargetView): TargetInfo {
  return create(TargetInfoSchema, { ...target, nodes: [...nodes] });
}

export function toRunInfo(run: RunRecord): RunInfo {
  const { runId, state, door, adapter, target, node, attempts, keyId, asked } = run;
  const info = create(RunInfoSchema, {
    runId,
    state: toWireRunState(state),
    door,
    adapter,
    target,
    node,
    attempts,
    keyId,
    model: asked,
    createdAt: toTime(run.createdAtMs),
    startedAt: toTime(run.startedAtMs),
    endedAt: toTime(run.endedAtMs),
    runClass: RunClass.ATTACHED,
  });
  if (run.end !== undefined && isRunEndState(state)) info.end = toEndEvent(run.end);
  return info;
}

export function toKeyInfo({ id, name, createdAtMs, revokedAtMs }: StoredKey): KeyInfo {
  return create(KeyInfoSchema, {
    id,
    name,
    createdAt: toTime(createdAtMs),
    revoked: revokedAtMs !== undefined,
  });
}

function toTime(ms: number | undefined): string {
  return ms === undefined ? '' : String(ms);
}
