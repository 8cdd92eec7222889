import type { CliProfile } from './profile.ts';

const durations = ['progress_timeout', 'total_timeout', 'grace', 'drain'] as const;

/** As JSON for the wire, whole: nothing in it is left to the defaults of another version. */
export function encodeCliProfile(profile: CliProfile): string {
  const withUnits = durations.map((key) => [key, `${profile[key]}ms`]);
  return JSON.stringify({ ...profile, ...Object.fromEntries(withUnits) });
}
