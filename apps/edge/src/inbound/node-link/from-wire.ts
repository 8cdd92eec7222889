import type { RetryBoundary, SessionKind } from '@iop/runtime';
import { type RunInventoryEntry, RunState, type AdapterCapabilities as WireCapabilities } from '@iop/wire';
import type { AdapterCapabilities, HeldByNode } from '../../ports/node-link.ts';

export function toCapabilities(wire: WireCapabilities): AdapterCapabilities {
  const { name, kind, healthy, detail, dialects } = wire;
  return {
    name,
    kind,
    healthy,
    detail,
    targets: wire.targets.map((target) =>
      target.contextLength === 0
        ? { name: target.name }
        : { name: target.name, contextLength: target.contextLength },
    ),
    retry: toRetry(wire.retry),
    sessions: toSessions(wire.sessions),
    dialects,
  };
}

export function toHeld(entry: RunInventoryEntry): HeldByNode {
  const { runId, attempt, lastSeq, firstKeptSeq } = entry;
  const state = heldStates.get(entry.state) ?? 'running';
  return { runId, attempt, state, lastSeq, firstKeptSeq, bodyReceivedBytes: entry.bodyReceived };
}

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
