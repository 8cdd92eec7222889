import { isName } from '@iop/domain';
import type { AdapterConfiguration, AdapterFactory, Allow } from '../ports/adapter-factory.ts';

/** What the Edge wants this Node to be. */
export interface NodeConfiguration {
  revision: number;
  adapters: readonly AdapterConfiguration[];
  limits: RunLimits;
}

export interface RunLimits {
  /** Linked and without credit for so long, a run ends as failed. */
  stallAfterMs: number;
  /** Without a link for so long, attached runs are stopped. */
  orphanAfterMs: number;
  /** Without a link for so long, detached runs are stopped too. */
  detachedOrphanAfterMs: number;
}

export const defaultLimits: RunLimits = {
  stallAfterMs: 60_000,
  orphanAfterMs: 10_000,
  detachedOrphanAfterMs: 600_000,
};

export type ConfigOutcome = { kind: 'accepted' } | { kind: 'refused'; problems: readonly string[] };

/** Everything that is wrong with a configuration on this Node: where, what, what was expected. */
export function configurationProblems(
  configuration: NodeConfiguration,
  factories: ReadonlyMap<string, AdapterFactory>,
  allow: Allow,
): readonly string[] {
  const problems: string[] = [];
  const names = new Set<string>();
  for (const adapter of configuration.adapters) {
    const found = [...nameProblems(adapter, names), ...adapterProblems(adapter, factories, allow)];
    names.add(adapter.name);
    problems.push(...found.map((problem) => `adapters.${adapter.name || '?'}: ${problem}`));
  }
  return problems;
}

function nameProblems(adapter: AdapterConfiguration, taken: ReadonlySet<string>): string[] {
  if (!isName(adapter.name)) return [`name ${JSON.stringify(adapter.name)} is not a name like vllm-1`];
  return taken.has(adapter.name) ? ['there are two adapters of this name'] : [];
}

function adapterProblems(
  adapter: AdapterConfiguration,
  factories: ReadonlyMap<string, AdapterFactory>,
  allow: Allow,
): readonly string[] {
  const { kind } = adapter.settings;
  const factory = factories.get(kind);
  if (factory === undefined) return [`this Node has no adapter of kind ${kind}`];
  if (!allow.adapters.includes(kind)) {
    const list = allow.adapters.length === 0 ? 'none' : allow.adapters.join(', ');
    return [`kind ${kind} is not allowed by node.yaml (allow.adapters: ${list})`];
  }
  return [...targetProblems(adapter), ...factory.check(adapter, allow)];
}

function targetProblems(adapter: AdapterConfiguration): string[] {
  const names = new Set<string>();
  const problems: string[] = [];
  for (const { name } of adapter.targets) {
    if (name === '') problems.push('targets: a target has no name');
    else if (names.has(name)) problems.push(`targets: ${name} stands there twice`);
    names.add(name);
  }
  return problems;
}
