import { isRunEndState } from '@iop/domain';
import type { TargetFact, UpstreamLoad } from '@iop/runtime';
import {
  AdapterInfoSchema,
  type AdapterLoad,
  AdapterLoadSchema,
  create,
  FactSource,
  type NodeInfo,
  NodeInfoSchema,
  RunClass,
  type RunInfo,
  RunInfoSchema,
  TargetAliasSchema,
  TargetFactSchema,
  type TargetInfo,
  TargetInfoSchema,
  TargetPlaceSchema,
  toEndEvent,
  toWireRunState,
  type UsageRow,
  UsageRowSchema,
  type TargetFact as WireFact,
} from '@iop/wire';
import type { TargetView } from '../core/target-view.ts';
import type { NodeView } from '../core/views.ts';
import type { RunRecord, UsageSum } from '../ports/run-records.ts';

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
        breaker: adapter.breaker,
        ...toLoad(adapter.name, adapter.load),
      }),
    ),
  });
}

export function toTargetInfo({ nodes, facts, places, aliases, ...target }: TargetView): TargetInfo {
  return create(TargetInfoSchema, {
    ...target,
    nodes: [...nodes],
    facts: facts.map(toFact),
    aliases: aliases.map((alias) => create(TargetAliasSchema, alias)),
    places: places.map(({ load, facts: said, ...place }) =>
      create(TargetPlaceSchema, {
        ...place,
        facts: said.map(toFact),
        ...toLoad(target.adapter, load),
      }),
    ),
  });
}

function toFact({ name, holds, source }: TargetFact): WireFact {
  const from = source === 'measured' ? FactSource.MEASURED : FactSource.DECLARED;
  return create(TargetFactSchema, { name, holds, source: from });
}

function toLoad(adapter: string, load: UpstreamLoad | undefined): { load?: AdapterLoad } {
  return load === undefined ? {} : { load: create(AdapterLoadSchema, { adapter, ...load }) };
}

export function toRunInfo(run: RunRecord): RunInfo {
  const { runId, state, door, adapter, target, node, attempts, keyId, asked, route } = run;
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
    route,
    createdAt: toTime(run.createdAtMs),
    startedAt: toTime(run.startedAtMs),
    endedAt: toTime(run.endedAtMs),
    runClass: run.runClass === 'detached' ? RunClass.DETACHED : RunClass.ATTACHED,
    stored: run.stored,
    lastPos: run.lastPos,
    stopCause: run.stopCause ?? '',
    stale: run.stale,
  });
  if (run.end !== undefined && isRunEndState(state)) info.end = toEndEvent(run.end);
  return info;
}

export function toUsageRow({ promptTokens, completionTokens, ...sum }: UsageSum): UsageRow {
  return create(UsageRowSchema, {
    ...sum,
    promptTokens: String(promptTokens),
    completionTokens: String(completionTokens),
  });
}

function toTime(ms: number | undefined): string {
  return ms === undefined ? '' : String(ms);
}
