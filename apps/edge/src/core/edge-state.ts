import { type Clock, LiveMap } from '@iop/domain';
import type { RunLog } from '../ports/run-log.ts';
import type { RunOrders } from '../ports/run-orders.ts';
import type { RunRecords } from '../ports/run-records.ts';
import { createAdmission } from './admission.ts';
import { attemptEvents } from './attempt-events.ts';
import { type Catalogue, createCatalogue } from './catalogue.ts';
import { createCounters } from './counters.ts';
import { createNodeEntry, type NodeEntry } from './node-entry.ts';
import { createPace } from './pace.ts';
import type { RunContext } from './run.ts';
import type { EdgeSettings } from './settings.ts';
import { createWaitingLine, type WaitingLine } from './waiting-line.ts';

/** What the parts of one Edge share. */
export interface EdgeState {
  settings: EdgeSettings;
  /** No new run is taken any more. */
  stopping: boolean;
  readonly startedAtMs: number;
  readonly nodes: Map<string, NodeEntry>;
  readonly line: WaitingLine;
  readonly catalogue: Catalogue;
  readonly ctx: RunContext;
  /** Nodes or settings have changed: the catalogue is rebuilt and the line served, at the end of the tick or soon. */
  changed(): void;
  /** Applies at once what `changed` still owes; false: nothing. */
  catchUp(): boolean;
}

export interface EdgeStateDeps {
  clock: Clock;
  settings: EdgeSettings;
  records: RunRecords;
  log: RunLog;
  orders: RunOrders;
  /** Nodes that enrolled before this process began. */
  knownNodes: readonly string[];
}

export function createEdgeState({ clock, settings, knownNodes, ...stores }: EdgeStateDeps): EdgeState {
  const { records, log, orders } = stores;
  const line = createWaitingLine();
  const catalogue = createCatalogue(() => clock.wall());
  const nodeLimit = () => state.settings.limits.nodeConcurrency;
  const admission = createAdmission({ catalogue, line, nodeLimit, now: () => clock.now() });
  const changes = coalesce(clock, () => {
    catalogue.rebuild(state.settings, state.nodes.values());
    admission.retry();
  });
  const state: EdgeState = {
    settings,
    stopping: false,
    startedAtMs: clock.now(),
    nodes: new Map(knownNodes.map((name) => [name, createNodeEntry(name)])),
    line,
    catalogue,
    ctx: {
      clock,
      settings: () => state.settings,
      admission,
      records,
      log,
      orders,
      counters: createCounters(),
      pace: createPace(),
      active: new LiveMap(),
      handlers: attemptEvents,
    },
    changed: changes.note,
    catchUp: changes.catchUp,
  };
  catalogue.rebuild(settings, state.nodes.values());
  return state;
}

/** What rebuilding may take of the time while a large fleet comes back. */
const busyShare = 0.1;
const longestDelayMs = 250;

/** Many changes are one. At the end of the tick while that costs nothing, more rarely the more it costs. */
function coalesce(clock: Clock, apply: () => void): { note(): void; catchUp(): boolean } {
  let isDue = false;
  let notBeforeMs = 0;
  const catchUp = () => {
    if (!isDue) return false;
    isDue = false;
    const beganMs = clock.now();
    apply();
    const endedMs = clock.now();
    notBeforeMs = endedMs + Math.min(longestDelayMs, (endedMs - beganMs) / busyShare);
    return true;
  };
  const note = () => {
    if (isDue) return;
    isDue = true;
    const delayMs = notBeforeMs - clock.now();
    if (delayMs < 1) clock.soon(catchUp);
    else clock.after(delayMs, catchUp);
  };
  return { note, catchUp };
}
