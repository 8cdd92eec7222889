import type { UpstreamLoad } from '@iop/runtime';
import type { AdapterCapabilities, HeldByNode, NodeLink } from '../ports/node-link.ts';
import { adoptCapabilities } from './node-capabilities.ts';
import { planNodeConfig } from './node-config.ts';
import {
  createNodeEntry,
  type NodeEntry,
  type NodeFacts,
  type NodeState,
  nodeState,
  noLoads,
} from './node-entry.ts';
import { forgiveNode } from './place-health.ts';
import type { RunContext } from './run.ts';
import { loseRestarted, reconcileRuns, suspendRuns } from './run-loss.ts';
import { adoptAttempts } from './run-restore.ts';
import type { TargetChange } from './target-changes.ts';

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
  configResult(at: LinkRef, result: ConfigResult): void;
  /** What is new since the Node last said it, for the log. */
  capabilities(at: LinkRef, adapters: readonly AdapterCapabilities[]): readonly TargetChange[];
  /** How busy the upstreams of adapters are that say so. */
  loads(at: LinkRef, loads: ReadonlyMap<string, UpstreamLoad>): void;
  draining(at: LinkRef, draining: boolean): void;
  /** Nodes that are known, linked or not. */
  readonly size: number;
}

export interface LinkRef {
  name: string;
  epoch: number;
}

/** Without problems: the Node has taken the revision. */
export interface ConfigResult {
  revision: number;
  problems: readonly string[];
}

export interface NodesDeps {
  ctx: RunContext;
  entries: Map<string, NodeEntry>;
  /** Which Nodes take runs, or what they can do, has changed. */
  changed(): void;
}

export function createNodes(deps: NodesDeps): Nodes {
  return new LiveNodes(deps);
}

class LiveNodes implements Nodes {
  readonly #ctx: RunContext;
  readonly #entries: Map<string, NodeEntry>;
  readonly #changed: () => void;

  constructor({ ctx, entries, changed }: NodesDeps) {
    this.#ctx = ctx;
    this.#entries = entries;
    this.#changed = changed;
  }

  get size(): number {
    return this.#entries.size;
  }

  up(facts: NodeFacts, link: NodeLink): void {
    const entry = this.#entries.get(facts.name) ?? createNodeEntry(facts.name);
    this.#entries.set(facts.name, entry);
    const before = nodeState(entry);
    if (entry.linked) takeDown(this.#ctx, entry);
    const isSameProcess = entry.facts?.instance === facts.instance;
    entry.facts = facts;
    entry.link = link;
    entry.linked = true;
    entry.lastSeenMs = this.#ctx.clock.wall();
    this.#ctx.counters.linksUp++;
    adoptAttempts(entry);
    if (!isSameProcess) forgetProcess(this.#ctx, entry);
    link.configure(planNodeConfig(this.#ctx.settings(), facts));
    this.#noteChange(entry, before);
  }

  down(at: LinkRef): void {
    this.#change(at, (entry) => takeDown(this.#ctx, entry));
  }

  inventory(at: LinkRef, held: readonly HeldByNode[]): void {
    this.#change(at, (entry) => {
      reconcileRuns(this.#ctx, entry, held);
      entry.reconciled = true;
    });
  }

  configResult(at: LinkRef, { revision, problems }: ConfigResult): void {
    this.#change(at, (entry) => {
      entry.problems = problems;
      if (problems.length === 0) entry.acceptedRevision = revision;
    });
  }

  capabilities(at: LinkRef, adapters: readonly AdapterCapabilities[]): readonly TargetChange[] {
    let changes: readonly TargetChange[] = [];
    this.#change(at, (entry) => {
      changes = adoptCapabilities(this.#ctx, entry, adapters);
    });
    return changes;
  }

  /** Read by whoever chooses a place; nobody in line can go because of it. */
  loads({ name, epoch }: LinkRef, loads: ReadonlyMap<string, UpstreamLoad>): void {
    const entry = this.#entries.get(name);
    if (entry?.linked === true && entry.facts?.epoch === epoch) entry.loads = loads;
  }

  draining(at: LinkRef, draining: boolean): void {
    this.#change(at, (entry) => {
      entry.draining = draining;
    });
  }

  /** E12: only what the live link says counts. */
  #change({ name, epoch }: LinkRef, apply: (entry: NodeEntry) => void): void {
    const entry = this.#entries.get(name);
    if (entry?.linked !== true || entry.facts?.epoch !== epoch) return;
    const before = nodeState(entry);
    apply(entry);
    this.#noteChange(entry, before);
  }

  /** Who neither takes runs now nor did before changes nothing for anybody. */
  #noteChange(entry: NodeEntry, before: NodeState): void {
    if (before === 'ready' || nodeState(entry) === 'ready') this.#changed();
  }
}

function takeDown(ctx: RunContext, entry: NodeEntry): void {
  entry.linked = false;
  entry.reconciled = false;
  entry.adapters = undefined;
  entry.loads = noLoads;
  entry.lastSeenMs = ctx.clock.wall();
  ctx.counters.linksDown++;
  suspendRuns(ctx, entry);
}

function forgetProcess(ctx: RunContext, entry: NodeEntry): void {
  entry.acceptedRevision = undefined;
  entry.problems = [];
  entry.draining = false;
  forgiveNode(entry);
  loseRestarted(ctx, entry);
}
