import { parseArgs } from 'node:util';

export interface Options {
  minutes: number;
  seed: number;
  json: boolean;
}

export const usage = `npm run soak -- [--minutes N] [--seed N] [--json]

One Edge and three Nodes as processes, callers of every kind, and faults by a schedule that the seed decides.
At the end everything that was seen is checked; what must never be seen is told with its run's whole story.

  --minutes N   of faults, 0.3 to 120; 10 unless said
  --seed N      plays that schedule again; a new one unless said
  --json        figures as JSON on stdout
`;

/** @throws Error in words for whoever typed them */
export function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const minutes = Number(values.minutes);
  const seed = Number(values.seed);
  if (!(minutes >= 0.3 && minutes <= 120)) throw new Error(`--minutes is 0.3 to 120, not ${values.minutes}`);
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new Error(`--seed is a whole number, not ${values.seed}`);
  return { minutes, seed, json: values.json };
}
