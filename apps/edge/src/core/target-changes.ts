import type { AdapterCapabilities } from '../ports/node-link.ts';

export interface TargetChange {
  kind: 'appeared' | 'gone' | 'healthy' | 'unhealthy';
  adapter: string;
  /** Empty where it is about the adapter. */
  target: string;
  /** Why it is not healthy. */
  detail: string;
}

/** What of a Node's adapters and targets is new, gone, or well or ill since it last said so. */
export function changesOf(
  before: readonly AdapterCapabilities[],
  after: readonly AdapterCapabilities[],
): TargetChange[] {
  const old = new Map(before.map((adapter) => [adapter.name, adapter]));
  const changes = after.flatMap((adapter) => changesOfAdapter(old.get(adapter.name), adapter));
  const kept = new Set(after.map(({ name }) => name));
  const left = before.filter(({ name }) => !kept.has(name));
  return [
    ...changes,
    ...left.flatMap((adapter) => namesOf(adapter).map((name) => change('gone', adapter, name))),
  ];
}

function changesOfAdapter(
  before: AdapterCapabilities | undefined,
  after: AdapterCapabilities,
): TargetChange[] {
  const health = before !== undefined && before.healthy !== after.healthy;
  const [had, has] = [new Set(namesOf(before)), new Set(namesOf(after))];
  return [
    ...(health ? [change(after.healthy ? 'healthy' : 'unhealthy', after, '')] : []),
    ...[...has].filter((name) => !had.has(name)).map((name) => change('appeared', after, name)),
    ...[...had].filter((name) => !has.has(name)).map((name) => change('gone', after, name)),
  ];
}

function namesOf(adapter: AdapterCapabilities | undefined): string[] {
  return adapter?.targets.map(({ name }) => name) ?? [];
}

function change(
  kind: TargetChange['kind'],
  { name, detail }: AdapterCapabilities,
  target: string,
): TargetChange {
  return { kind, adapter: name, target, detail };
}
