import { z } from 'zod';
import { type CliProfile, checkCliProfile, cliProfileKeys } from './profile.ts';

const profileSchema = z.strictObject(cliProfileKeys).superRefine(checkCliProfile);

export type ParsedProfile =
  | { kind: 'profile'; profile: CliProfile }
  | { kind: 'invalid'; problems: string[] };

/** A profile from its JSON; what is wrong is said with the path in it and what was expected. */
export function parseCliProfile(json: string): ParsedProfile {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // The words of the parser would hold pieces of the text.
    return { kind: 'invalid', problems: ['the profile is not JSON'] };
  }
  const parsed = profileSchema.safeParse(value);
  if (parsed.success) return { kind: 'profile', profile: parsed.data };
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'profile'}: ${message}`,
  );
  return { kind: 'invalid', problems };
}
