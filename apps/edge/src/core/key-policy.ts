import { IopError } from '@iop/domain';
import type { KeyPolicy, KeyRate } from '../ports/key-store.ts';

const mostTargets = 256;
const longestTarget = 256;
const mostRuns = 1_000_000;
const dayMs = 86_400_000;

/** @throws IopError `key.policy-invalid`: which limit, what was expected */
export function checkPolicy(policy: KeyPolicy | undefined): void {
  if (policy === undefined) return;
  const { targets, concurrency, rate } = policy;
  if (targets.length > mostTargets) throw invalid(`a key may name ${mostTargets} targets at most`);
  for (const target of targets) {
    if (target === '' || target.length > longestTarget) {
      throw invalid(
        `a target of a key has 1 to ${longestTarget} characters, such as qwen, gpu/* or gpu/qwen`,
      );
    }
  }
  assertCount('the concurrency of a key', concurrency, 0);
  if (rate === undefined) return;
  assertCount('the rate of a key', rate.runs, 1);
  assertCount('the burst of a key', rate.burst, 1);
  if (!(rate.perMs >= 1000 && rate.perMs <= dayMs))
    throw invalid('a rate is per second, minute, hour or day');
}

function assertCount(what: string, count: number, least: number): void {
  if (Number.isInteger(count) && count >= least && count <= mostRuns) return;
  throw invalid(`${what} is a whole number from ${least} to ${mostRuns}, not ${count}`);
}

function invalid(message: string): IopError {
  return new IopError({ kind: 'invalid', code: 'key.policy-invalid', message });
}

/** `60 runs a minute`. */
export function formatRate({ runs, perMs }: KeyRate): string {
  const unit = units.find(([ms]) => ms === perMs)?.[1];
  return `${runs} runs ${unit ?? `in ${perMs / 1000} s`}`;
}

const units: readonly (readonly [number, string])[] = [
  [1000, 'a second'],
  [60_000, 'a minute'],
  [3_600_000, 'an hour'],
  [86_400_000, 'a day'],
];

/** Nothing of it limits anything, or lets it do more than call. */
export function isUnlimited({ targets, concurrency, rate, expiresAtMs, role }: KeyPolicy): boolean {
  const isCaller = role === undefined || role === 'caller';
  return (
    targets.length === 0 && concurrency === 0 && rate === undefined && expiresAtMs === undefined && isCaller
  );
}
