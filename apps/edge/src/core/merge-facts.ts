import { factNames, type TargetFact } from '@iop/runtime';

/**
 * What several Nodes say of one target, together: measured outweighs declared, and what does not hold on one of them
 * does not hold.
 */
export function mergeFacts(all: readonly (readonly TargetFact[])[]): TargetFact[] {
  return factNames.flatMap((name) => {
    const said = all.flatMap((facts) => facts.filter((fact) => fact.name === name));
    const measured = said.filter(({ source }) => source === 'measured');
    const counted = measured.length > 0 ? measured : said;
    const [first] = counted;
    return first === undefined ? [] : [{ ...first, holds: counted.every(({ holds }) => holds) }];
  });
}

/** 0: nobody says. */
export function smallestContext(places: readonly { contextLength: number }[]): number {
  const said = places.map(({ contextLength }) => contextLength).filter((length) => length > 0);
  return said.length === 0 ? 0 : Math.min(...said);
}
