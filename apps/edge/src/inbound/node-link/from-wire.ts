import type { RunEnd } from '@iop/domain';
import {
  factNames,
  type RetryBoundary,
  type SessionKind,
  type TargetFact,
  type TargetInfo,
  type UpstreamLoad,
} from '@iop/runtime';
import {
  type AdapterLoad,
  FactSource,
  type RunInventoryEntry,
  RunState,
  type TargetCapabilities,
  type AdapterCapabilities as WireCapabilities,
  type TargetFact as WireFact,
} from '@iop/wire';
import type { AdapterCapabilities, HeldByNode } from '../../ports/node-link.ts';

export function toCapabilities(wire: WireCapabilities): AdapterCapabilities {
  const { name, kind, healthy, detail, dialects } = wire;
  return {
    name,
    kind,
    healthy,
    detail,
    targets: wire.targets.map(toTarget),
    retry: toRetry(wire.retry),
    sessions: toSessions(wire.sessions),
    dialects,
  };
}

function toTarget({ name, contextLength, facts }: TargetCapabilities): TargetInfo {
  const target: TargetInfo = { name };
  if (contextLength > 0) target.contextLength = contextLength;
  if (facts.length > 0) target.facts = facts.flatMap(toFact);
  return target;
}

/** What a newer Node knows of that this version has no name for is left out. */
function toFact({ name, holds, source }: WireFact): TargetFact[] {
  const known = factNames.find((each) => each === name);
  if (known === undefined) return [];
  return [{ name: known, holds, source: source === FactSource.MEASURED ? 'measured' : 'declared' }];
}

/** By adapter. */
export function toLoads(loads: readonly AdapterLoad[]): ReadonlyMap<string, UpstreamLoad> {
  return new Map(loads.map((load) => [load.adapter, toLoad(load)]));
}

function toLoad({ running, waiting, cacheUse }: AdapterLoad): UpstreamLoad {
  if (cacheUse === undefined) return { running, waiting };
  // Single precision turned 0.37 into 0.3700000047683716.
  return { running, waiting, cacheUse: Math.round(cacheUse * 1000) / 1000 };
}

export function toHeld(entry: RunInventoryEntry): HeldByNode {
  const { runId, attempt, lastSeq, firstKeptSeq } = entry;
  const state = heldStates.get(entry.state) ?? 'running';
  const held = { runId, attempt, state, lastSeq, firstKeptSeq, bodyReceivedBytes: entry.bodyReceived };
  const endedAs = ends.get(entry.state);
  return endedAs === undefined ? held : { ...held, endedAs };
}

const ends: ReadonlyMap<RunState, RunEnd['kind']> = new Map([
  [RunState.COMPLETED, 'completed'],
  [RunState.FAILED, 'failed'],
  [RunState.CANCELLED, 'cancelled'],
]);

const heldStates: ReadonlyMap<RunState, HeldByNode['state']> = new Map([
  [RunState.QUEUED, 'starting'],
  [RunState.STARTING, 'starting'],
  [RunState.WAITING, 'waiting'],
  [RunState.STOPPING, 'stopping'],
  [RunState.COMPLETED, 'ended'],
  [RunState.FAILED, 'ended'],
  [RunState.CANCELLED, 'ended'],
]);

/** What this version does not know is taken for the strictest. */
function toRetry(text: string): RetryBoundary {
  return text === 'before-content' || text === 'before-start' ? text : 'never';
}

function toSessions(text: string): SessionKind {
  return text === 'portable' ? 'portable' : 'pinned';
}
