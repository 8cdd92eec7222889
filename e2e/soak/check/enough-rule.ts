import { countHistory } from '../history/count-history.ts';
import type { Rule } from './violation.ts';

/** A checker that has seen nothing has proved nothing. */
export const enoughRule: Rule = ({ history }) => {
  const minutes = history.chaosMs / 60_000;
  const counted = countHistory(history);
  return leastOf(minutes)
    .filter(({ what, atLeast }) => counted[what] < atLeast)
    .map(({ what, atLeast }) => ({
      rule: 'enough was seen',
      expected: `at least ${atLeast} of ${what} in ${minutes.toFixed(1)} minutes`,
      found: String(counted[what]),
    }));
};

interface Least {
  what: keyof ReturnType<typeof countHistory> & string;
  atLeast: number;
}

/** For one soak of any length, and for each minute of it: what the slowest machine still does. */
function leastOf(minutes: number): Least[] {
  const least = (atLeast: number, perMinute: number) => Math.max(atLeast, Math.floor(perMinute * minutes));
  return [
    { what: 'runs', atLeast: least(40, 20) },
    { what: 'completed', atLeast: least(20, 8) },
    { what: 'wholeAnswers', atLeast: least(20, 8) },
    { what: 'edgeKills', atLeast: least(1, 0.5) },
    { what: 'nodeKills', atLeast: least(1, 0.8) },
    { what: 'linkCuts', atLeast: least(1, 1.5) },
    { what: 'resumes', atLeast: least(4, 3) },
    { what: 'watches', atLeast: least(2, 2) },
    { what: 'repeats', atLeast: least(4, 4) },
    { what: 'cancels', atLeast: least(1, 0.7) },
    { what: 'outlived', atLeast: least(1, 1) },
    { what: 'leaves', atLeast: least(4, 4) },
  ];
}
