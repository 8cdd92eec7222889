import type { AdapterCapabilities, HeldByNode, NodeLink } from '../ports/node-link.ts';
import { planNodeConfig } from './node-config.ts';
import { createNodeEntry, type NodeEntry, type NodeFacts } from './node-entry.ts';
import type { RunContext } from './run.ts';
import { loseRestarted, reconcileRuns, suspendRuns } from './run-loss.ts';

/**
 * What the links tell of Nodes. Every call names the epoch of its link; what an older link still says is
 * ignored (E12), so that a late failure of the old one cannot harm the new one.
 */
export interface Nodes {
  /** A Node has linked: it is sent its configuration. An older link of it counts as down. */
  up(facts: NodeFacts, link: NodeLink): void;
  down(at: LinkRef): void;
  /** The first thing that a Node says on a link. */
  inventory(at: LinkRef, held: readonly HeldByNode[]): void;
  configResult(at: LinkRef, result: { revision: number; problems: readonly string[] }): void;
  capabilities(at: LinkRef, adapters: readonly AdapterCapabilities[]): void;
  draining(at: LinkRef, draining: boolean): void;
  /** Nodes that are known, linked or not. */
  readonly size: number;
}

export interface LinkRef {
  name: string;
  epoch: number;
}

export interface NodesDeps {
  ctx: RunContext;
  entries: Map<string, NodeEntry>;
  /** Nodes or what they can do have changed. */
  changed(): void;
}

export function createNodes({ ctx, entries, changed }: NodesDeps): Nodes {
  function at({ name, epoch }: LinkRef): NodeEntry | undefined {
    const entry = entries.get(name);
    return entry?.linked === true && entry.facts?.epoch === epoch ? entry : undefined;
  }

  function takeDown(entry: NodeEntry): void {
    entry.linked = false;
    entry.reconciled = false;
    entry.adapters = undefined;
    entry.lastSeenMs = ctx.clock.wall();
    ctx.counters.linksDown++;
    suspendRuns(ctx, entry);
  }

  return {
    up(facts, link) {
      const entry = entries.get(facts.name) ?? createNodeEntry(facts.name);
      entries.set(facts.name, entry);
      if (entry.linked) takeDown(entry);
      const isSameProcess = entry.facts?.instance === facts.instance;
      entry.facts = facts;
      entry.link = link;
      entry.linked = true;
      entry.lastSeenMs = ctx.clock.wall();
      ctx.counters.linksUp++;
      if (!isSameProcess) forgetProcess(ctx, entry);
      link.configure(planNodeConfig(ctx.settings(), facts));
      changed();
    },
    down(ref) {
      const entry = at(ref);
      if (entry === undefined) return;
      takeDown(entry);
      changed();
    },
    inventory(ref, held) {
      const entry = at(ref);
      if (entry === undefined) return;
      reconcileRuns(ctx, entry, held);
      entry.reconciled = true;
      changed();
    },
    configResult(ref, { revision, problems }) {
      const entry = at(ref);
      if (entry === undefined) return;
      entry.problems = problems;
      if (problems.length === 0) entry.acceptedRevision = revision;
      changed();
    },
    capabilities(ref, adapters) {
      const entry = at(ref);
      if (entry === undefined) return;
      entry.adapters = adapters;
      changed();
    },
    draining(ref, draining) {
      const entry = at(ref);
      if (entry === undefined) return;
      entry.draining = draining;
      changed();
    },
    get size() {
      return entries.size;
    },
  };
}

function forgetProcess(ctx: RunContext, entry: NodeEntry): void {
  entry.acceptedRevision = undefined;
  entry.problems = [];
  entry.draining = false;
  loseRestarted(ctx, entry);
}
