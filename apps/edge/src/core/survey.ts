import type { Candidate, Verdict } from '../ports/run-log.ts';
import { type ChooseLimits, isFree } from './choose-place.ts';
import { nodeState } from './node-entry.ts';
import { placeStanding } from './place-health.ts';
import type { Place } from './places.ts';
import type { Tier } from './tiers.ts';
import type { Demand } from './waiting-line.ts';

/** A fleet may have thousands of places for one name; for people, these are enough. */
const mostCandidates = 32;

export interface SurveyInput {
  demand: Demand;
  chosen: Place;
  limits: ChooseLimits;
}

/** What stood to choice when a place was chosen, and what spoke against each. The choice has been made before. */
export function surveyPlaces(tiers: readonly Tier[], input: SurveyInput): Candidate[] {
  const candidates = [candidateOf(input.chosen, 'chosen', input)];
  for (const tier of tiers) {
    for (const { places } of tier.routes) {
      for (const place of places) {
        if (place === input.chosen || place.id === input.chosen.id) continue;
        if (candidates.length >= mostCandidates) return candidates;
        candidates.push(candidateOf(place, verdictOf(place, input), input));
      }
    }
  }
  return candidates;
}

function candidateOf(place: Place, verdict: Verdict, { limits }: SurveyInput): Candidate {
  const { node, adapter, target, targetSlot, targetLimit, adapterLimit } = place;
  const limit = smallestLimit(targetLimit, adapterLimit, limits.nodeLimit);
  return { node: node.name, adapter, target, verdict, running: targetSlot.running, limit };
}

function verdictOf(place: Place, { demand, limits }: SurveyInput): Verdict {
  if (nodeState(place.node) !== 'ready') return 'away';
  if (demand.excluded.includes(place.id)) return 'failed-before';
  if (!place.dialects.includes(demand.dialect)) return 'other-dialect';
  const standing = placeStanding(place, limits.now());
  if (standing === 'blocked') return 'kept-away';
  if (standing === 'on-trial') return 'on-trial';
  return isFree(place, limits.nodeLimit) ? 'free' : 'busy';
}

/** 0: nobody set one. */
function smallestLimit(...limits: number[]): number {
  const set = limits.filter((limit) => limit > 0);
  return set.length === 0 ? 0 : Math.min(...set);
}
