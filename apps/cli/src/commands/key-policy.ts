import { type KeyPolicy, type KeyRole, keyRoles } from '@iop/client';
import { IopError } from '@iop/domain';
import type { CommandContext } from '@iop/shell/program';
import { formatRate, parseMoment, parseRate } from '../output/durations.ts';
import { numberOption, textOption } from '../output/options.ts';

type Options = CommandContext['options'];

const mostRuns = 1_000_000;

/** The flags that name a limit, for `iop keys`; each also takes the word that lifts it. */
const flags = ['targets', 'concurrency', 'rate', 'burst', 'expires', 'role'] as const;

export function namesLimit(options: Options): boolean {
  return flags.some((flag) => textOption(options[flag]) !== undefined);
}

/** The policy with every limit that the command line names in place of what it was. */
export function changePolicy(policy: KeyPolicy, options: Options, nowMs: number): KeyPolicy {
  return {
    targets: targetsOf(textOption(options.targets), policy),
    concurrency: concurrencyOf(textOption(options.concurrency), policy),
    rate: rateOf(policy, textOption(options.rate), textOption(options.burst)),
    expiresAtMs: expiryOf(textOption(options.expires), policy, nowMs),
    role: roleOf(textOption(options.role), policy),
  };
}

function roleOf(text: string | undefined, { role }: KeyPolicy): KeyRole {
  if (text === undefined) return role;
  const known = keyRoles.find((each) => each === text);
  if (known !== undefined) return known;
  const message = `--role takes ${keyRoles.join(', ')}, not ${text}`;
  throw new IopError({ kind: 'invalid', code: 'usage', message });
}

function targetsOf(text: string | undefined, { targets }: KeyPolicy): readonly string[] {
  if (text === undefined) return targets;
  if (text === 'all') return [];
  const names = text.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}

function concurrencyOf(text: string | undefined, { concurrency }: KeyPolicy): number {
  if (text === undefined) return concurrency;
  return text === 'none' ? 0 : numberOption(text, '--concurrency', [1, mostRuns]);
}

function rateOf(
  { rate: before }: KeyPolicy,
  text: string | undefined,
  burstText: string | undefined,
): KeyPolicy['rate'] {
  if (text === 'none') return undefined;
  const rate = text === undefined ? before : parseRate(text, '--rate');
  const burst = burstText === undefined ? undefined : numberOption(burstText, '--burst', [1, mostRuns]);
  if (rate !== undefined)
    return { ...rate, burst: burst ?? (text === undefined ? before?.burst : undefined) ?? rate.runs };
  if (burst === undefined) return undefined;
  throw new IopError({
    kind: 'invalid',
    code: 'usage',
    message: '--burst goes with a rate: give --rate as well',
  });
}

function expiryOf(text: string | undefined, { expiresAtMs }: KeyPolicy, nowMs: number): number | undefined {
  if (text === undefined) return expiresAtMs;
  return text === 'never' ? undefined : parseMoment(text, '--expires', { nowMs, direction: 1 });
}

/** For a table; `-` where nothing is limited. */
export function limitCells({ targets, concurrency, rate }: KeyPolicy): string[] {
  return [
    targets.length === 0 ? '-' : targets.join(','),
    concurrency === 0 ? '-' : String(concurrency),
    rate === undefined ? '-' : rateWords(rate),
  ];
}

function rateWords(rate: NonNullable<KeyPolicy['rate']>): string {
  return rate.burst === rate.runs ? formatRate(rate) : `${formatRate(rate)} burst ${rate.burst}`;
}
