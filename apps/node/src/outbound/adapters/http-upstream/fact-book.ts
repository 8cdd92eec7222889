import { type FactName, factNames, type TargetFact, type TargetInfo } from '@iop/runtime';

/** Names come from outside: no more targets than these are remembered. */
const maxTargets = 1000;

/**
 * What runs have shown about the targets of one adapter. Nothing is ever run to find out. The newest
 * measurement counts, and counts more than what the upstream declares.
 */
export class FactBook {
  readonly #measured = new Map<string, Map<FactName, boolean>>();

  measured(target: string, name: FactName, holds: boolean): void {
    let facts = this.#measured.get(target);
    if (facts === undefined) {
      if (this.#measured.size >= maxTargets) return;
      facts = new Map();
      this.#measured.set(target, facts);
    }
    facts.set(name, holds);
  }

  /** Forgets all targets but these. */
  keep(targets: ReadonlySet<string>): void {
    for (const target of this.#measured.keys()) if (!targets.has(target)) this.#measured.delete(target);
  }

  /** Undefined: no run has shown it yet. */
  knows(target: string, name: FactName): boolean | undefined {
    return this.#measured.get(target)?.get(name);
  }

  /**
   * The targets with all that is known of them, always in the same order.
   * @param keyOf the name under which a target was measured, where it has several
   */
  complete(targets: readonly TargetInfo[], keyOf = (name: string) => name): readonly TargetInfo[] {
    return targets.map((target) => {
      const key = keyOf(target.name);
      const facts = factNames.flatMap((name) => this.#fact(key, target, name));
      return facts.length === 0 ? target : { ...target, facts };
    });
  }

  #fact(key: string, target: TargetInfo, name: FactName): TargetFact[] {
    const holds = this.knows(key, name);
    if (holds !== undefined) return [{ name, holds, source: 'measured' }];
    return target.facts?.filter((fact) => fact.name === name).slice(0, 1) ?? [];
  }
}
