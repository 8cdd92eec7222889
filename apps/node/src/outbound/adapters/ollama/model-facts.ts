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

/** @param skills undefined: the server does not say */
export function declaredFacts(skills: ReadonlySet<string> | undefined): TargetFact[] {
  if (skills === undefined) return [];
  return skillFacts.map(([name, skill]) => ({ name, holds: skills.has(skill), source: 'declared' }));
}
