import {
  type AdapterLoad,
  FactSource,
  type TargetInfo,
  type TargetPlace,
  type TargetFact as WireFact,
} from '@iop/wire';

/** A target under one of its public names. */
export interface TargetView {
  /** As at the OpenAI door. */
  name: string;
  adapter: string;
  target: string;
  /** Where it can run now. */
  nodes: readonly string[];
  running: number;
  queued: number;
  /** The smallest that a Node says; 0: none does. */
  contextLength: number;
  /** What its Nodes say together. */
  facts: readonly FactView[];
  /** Every Node that is meant for it. */
  places: readonly PlaceView[];
  aliases: readonly AliasView[];
}

export interface PlaceView {
  node: string;
  /** ready, configuring, draining, away, unhealthy, gone */
  state: string;
  detail: string;
  running: number;
  contextLength: number;
  facts: readonly FactView[];
  /** Undefined: its upstream does not say. */
  load: LoadView | undefined;
  /** Why it is given no runs for now; empty: nothing is wrong. */
  breaker: string;
}

export interface FactView {
  /** chat, completions, embeddings, tools, stream-tools, usage-in-stream, reasoning, images */
  name: string;
  holds: boolean;
  /** A run showed it; false: the upstream says so. */
  measured: boolean;
}

/** Of an upstream, callers of others included. */
export interface LoadView {
  running: number;
  waiting: number;
  /** Share of its cache, 0 to 1; undefined: it does not say. */
  cacheUse: number | undefined;
}

export interface AliasView {
  name: string;
  /** From 1: the order in which the alias asks. */
  choice: number;
  /** Share within that choice; 0: the least busy place gets the run. */
  weight: number;
}

export function toTargetView(info: TargetInfo): TargetView {
  const { name, adapter, target, nodes, running, queued, contextLength } = info;
  return {
    name,
    adapter,
    target,
    nodes: [...nodes],
    running,
    queued,
    contextLength,
    facts: info.facts.map(toFactView),
    places: info.places.map(toPlaceView),
    aliases: info.aliases.map(({ name: alias, choice, weight }) => ({ name: alias, choice, weight })),
  };
}

function toPlaceView(place: TargetPlace): PlaceView {
  const { node, state, detail, running, contextLength, breaker } = place;
  const facts = place.facts.map(toFactView);
  return { node, state, detail, running, contextLength, facts, load: toLoadView(place.load), breaker };
}

function toFactView({ name, holds, source }: WireFact): FactView {
  return { name, holds, measured: source === FactSource.MEASURED };
}

export function toLoadView(load: AdapterLoad | undefined): LoadView | undefined {
  return load && { running: load.running, waiting: load.waiting, cacheUse: load.cacheUse };
}
