import type { FactName, TargetFact } from '@iop/runtime';

/** What Ollama calls what a model can do, and what it lets a target do. */
const skillFacts: readonly [fact: FactName, skill: string][] = [
  ['chat', 'completion'],
  ['completions', 'completion'],
  ['embeddings', 'embedding'],
  ['tools', 'tools'],
  ['reasoning', 'thinking'],
  ['images', 'vision'],
];

/** Facts that runs have shown, by target; a later run counts more. */
export class MeasuredFacts {
  readonly #targets = new Map<string, Map<FactName, boolean>>();

  saw(target: string, name: FactName, holds: boolean): void {
    const facts = this.#targets.get(target) ?? new Map<FactName, boolean>();
    this.#targets.set(target, facts.set(name, holds));
  }

  of(target: string): ReadonlyMap<FactName, boolean> {
    return this.#targets.get(target) ?? new Map();
  }

  /** Forgets all targets but these. */
  keep(targets: ReadonlySet<string>): void {
    for (const target of this.#targets.keys()) if (!targets.has(target)) this.#targets.delete(target);
  }
}

/** @param skills undefined: the server does not say */
export function toFacts(
  skills: ReadonlySet<string> | undefined,
  measured: ReadonlyMap<FactName, boolean>,
): TargetFact[] {
  const facts = new Map<FactName, TargetFact>();
  if (skills !== undefined) {
    for (const [name, skill] of skillFacts)
      facts.set(name, { name, holds: skills.has(skill), source: 'declared' });
  }
  for (const [name, holds] of measured) facts.set(name, { name, holds, source: 'measured' });
  return [...facts.values()];
}
