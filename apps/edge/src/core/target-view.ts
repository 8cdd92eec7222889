import type { TargetFact, UpstreamLoad } from '@iop/runtime';
import type { Catalogue, KnownTarget } from './catalogue.ts';
import { mergeFacts, smallestContext } from './merge-facts.ts';
import { selects } from './node-config.ts';
import { type NodeEntry, nodeState, runningOn, slotOf } from './node-entry.ts';
import { troubleWords } from './place-health.ts';
import type { EdgeSettings } from './settings.ts';
import { refKey } from './target-book.ts';
import type { WaitingLine } from './waiting-line.ts';

/** A target under one of its public names, for operators. */
export interface TargetView {
  name: string;
  adapter: string;
  target: string;
  /** Where it can run now. */
  nodes: readonly string[];
  running: number;
  /** Runs in line that it could take. */
  queued: number;
  /** The smallest that a Node says; 0: none does. */
  contextLength: number;
  /** What its Nodes say together. */
  facts: readonly TargetFact[];
  /** Every Node that is meant for its adapter. */
  places: readonly TargetPlaceView[];
  /** Aliases that may lead here. */
  aliases: readonly TargetAliasView[];
}

export interface TargetPlaceView {
  node: string;
  /** ready, configuring, draining, away, unhealthy, gone */
  state: string;
  detail: string;
  running: number;
  contextLength: number;
  facts: readonly TargetFact[];
  load: UpstreamLoad | undefined;
  /** Why it is given no runs for now; empty: nothing is wrong. */
  breaker: string;
}

export interface TargetAliasView {
  name: string;
  /** From 1. */
  choice: number;
  /** 0: the least busy place of its tier gets the run. */
  weight: number;
}

export interface TargetViewDeps {
  catalogue: Catalogue;
  line: WaitingLine;
  nodes: readonly NodeEntry[];
  settings: EdgeSettings;
  /** Monotonic. */
  nowMs: number;
}

export function viewTargets(deps: TargetViewDeps): TargetView[] {
  const queued = countQueued(deps);
  const aliases = aliasesByTarget(deps.catalogue);
  return deps.catalogue.targets().flatMap((known) => {
    const { adapter, target, names } = known;
    const places = placesOf(known, deps);
    const key = refKey(known);
    const rest = {
      adapter,
      target,
      nodes: known.places.map((place) => place.node.name),
      running: deps.nodes.reduce((sum, node) => sum + runningOn(node, adapter, target), 0),
      queued: queued.get(key) ?? 0,
      contextLength: smallestContext(places),
      facts: mergeFacts(places.map((place) => place.facts)),
      places,
      aliases: aliases.get(key) ?? [],
    };
    return names.map((name) => ({ name, ...rest }));
  });
}

/** Of the Nodes that are meant for the adapter. */
function placesOf({ adapter, target }: KnownTarget, deps: TargetViewDeps): TargetPlaceView[] {
  const set = deps.settings.adapters.find((each) => each.name === adapter);
  const eligible = deps.nodes.filter(({ name, facts }) =>
    set?.nodes.some((selector) => selects(selector, facts ?? { name, labels: {} })),
  );
  return eligible.map((node) => viewPlace(node, { adapter, target }, deps.nowMs));
}

function viewPlace(
  node: NodeEntry,
  { adapter, target }: { adapter: string; target: string },
  nowMs: number,
): TargetPlaceView {
  const offered = (node.adapters ?? node.lastAdapters)?.find((each) => each.name === adapter);
  const info = offered?.targets.find((each) => each.name === target);
  const isUnhealthy = offered?.healthy === false;
  const state = nodeState(node);
  const here = isUnhealthy ? 'unhealthy' : info === undefined ? 'gone' : state;
  return {
    node: node.name,
    state: state === 'ready' ? here : state,
    detail: isUnhealthy ? offered.detail : '',
    running: runningOn(node, adapter, target),
    contextLength: info?.contextLength ?? 0,
    facts: info?.facts ?? [],
    load: node.loads.get(adapter),
    breaker: troubleWords([slotOf(node, adapter), slotOf(node, adapter, target)], nowMs),
  };
}

function aliasesByTarget(catalogue: Catalogue): Map<string, TargetAliasView[]> {
  const found = new Map<string, TargetAliasView[]>();
  for (const { name, tiers } of catalogue.aliases()) {
    for (const [index, routes] of tiers.entries()) {
      for (const route of routes) {
        const view = { name, choice: index + 1, weight: route.weight ?? 0 };
        for (const ref of catalogue.refsOf(route.name)) {
          found.set(refKey(ref), [...(found.get(refKey(ref)) ?? []), view]);
        }
      }
    }
  }
  return found;
}

function countQueued({ catalogue, line }: TargetViewDeps): Map<string, number> {
  const queued = new Map<string, number>();
  for (const waiter of line.all()) {
    const resolution = catalogue.resolve(waiter.demand.select);
    if (resolution.kind === 'unknown') continue;
    for (const ref of resolution.refs) queued.set(refKey(ref), (queued.get(refKey(ref)) ?? 0) + 1);
  }
  return queued;
}
