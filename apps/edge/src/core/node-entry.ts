import { LiveMap } from '@iop/domain';
import type { UpstreamLoad } from '@iop/runtime';
import type { AdapterCapabilities, NodeLink } from '../ports/node-link.ts';
import type { Attempt } from './attempt.ts';
import type { Trouble } from './breaker.ts';

/** Runs at once of something. */
export interface Slot {
  running: number;
  /** Of an adapter or a target: what keeps runs away; undefined: nothing is wrong. */
  trouble: Trouble | undefined;
}

/** What a Node said of itself when it linked. */
export interface NodeFacts {
  name: string;
  /** One per process of the Node. */
  instance: string;
  epoch: number;
  address: string;
  build: string;
  labels: Readonly<Record<string, string>>;
}

/** A Node as the Edge knows it. Lives as long as the Edge, through all its links. */
export interface NodeEntry {
  readonly name: string;
  facts: NodeFacts | undefined;
  link: NodeLink | undefined;
  linked: boolean;
  /** The inventory of this link was answered. */
  reconciled: boolean;
  /** Last revision that this process of the Node accepted. */
  acceptedRevision: number | undefined;
  /** Why the Node refused the newest revision. */
  problems: readonly string[];
  /** Said on this link. */
  adapters: readonly AdapterCapabilities[] | undefined;
  /** Said on the last link on which it said any; what appeared since then is news. */
  lastAdapters: readonly AdapterCapabilities[] | undefined;
  /** By adapter: how busy the upstream is, callers of others included. */
  loads: ReadonlyMap<string, UpstreamLoad>;
  draining: boolean;
  readonly total: Slot;
  readonly slots: Map<string, Slot>;
  /** By run: a run has one open attempt. */
  readonly attempts: LiveMap<string, Attempt>;
  /** Milliseconds since 1970. */
  lastSeenMs: number | undefined;
  /** Ends the wait for its return. */
  stopWaiting: (() => void) | undefined;
  /** Grows with every dispatch, over all Nodes: the least recently used goes first. */
  lastPick: number;
}

export function createNodeEntry(name: string): NodeEntry {
  return {
    name,
    facts: undefined,
    link: undefined,
    linked: false,
    reconciled: false,
    acceptedRevision: undefined,
    problems: [],
    adapters: undefined,
    lastAdapters: undefined,
    loads: noLoads,
    draining: false,
    total: { running: 0, trouble: undefined },
    slots: new Map(),
    attempts: new LiveMap(),
    lastSeenMs: undefined,
    stopWaiting: undefined,
    lastPick: 0,
  };
}

export const noLoads: ReadonlyMap<string, UpstreamLoad> = new Map();

/** Survives changes of capabilities: a run that goes on keeps counting. */
export function slotOf(node: NodeEntry, adapter: string, target?: string): Slot {
  const key = slotKey(adapter, target);
  let slot = node.slots.get(key);
  if (slot === undefined) {
    slot = { running: 0, trouble: undefined };
    node.slots.set(key, slot);
  }
  return slot;
}

/** Runs of a target on a Node now. */
export function runningOn(node: NodeEntry, adapter: string, target: string): number {
  return node.slots.get(slotKey(adapter, target))?.running ?? 0;
}

function slotKey(adapter: string, target: string | undefined): string {
  return target === undefined ? adapter : `${adapter}\0${target}`;
}

export type NodeState = 'ready' | 'configuring' | 'draining' | 'away';

/** E13: only a `ready` Node is given runs. */
export function nodeState(node: NodeEntry): NodeState {
  if (!node.linked) return 'away';
  if (!node.reconciled || node.acceptedRevision === undefined || node.adapters === undefined) {
    return 'configuring';
  }
  return node.draining ? 'draining' : 'ready';
}
