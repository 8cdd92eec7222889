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

/** About a third of what is usual. */
function leastOf(minutes: number): Least[] {
  const perMinute = (count: number) => Math.max(1, Math.floor(count * minutes));
  return [
    { what: 'runs', atLeast: Math.max(40, perMinute(60)) },
    { what: 'completed', atLeast: Math.max(20, perMinute(30)) },
    { what: 'wholeAnswers', atLeast: Math.max(20, perMinute(30)) },
    { what: 'edgeKills', atLeast: perMinute(0.7) },
    { what: 'nodeKills', atLeast: perMinute(1.5) },
    { what: 'linkCuts', atLeast: perMinute(1.5) },
    { what: 'resumes', atLeast: perMinute(8) },
    { what: 'watches', atLeast: perMinute(4) },
    { what: 'repeats', atLeast: perMinute(6) },
    { what: 'cancels', atLeast: perMinute(2) },
    { what: 'outlived', atLeast: perMinute(2) },
    { what: 'leaves', atLeast: perMinute(8) },
  ];
}
