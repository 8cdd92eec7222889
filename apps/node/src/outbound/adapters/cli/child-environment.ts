import type { CliProfile } from '@iop/cli-profile';

/** By this a process of a run is known, whatever it became: 128 random bits (C5). */
export const markVariable = 'IOP_RUN_MARK';

/** What any program needs; taken from the Node's own environment where it is there. */
const always = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/** What is set for a program is no secret, but who knows what somebody writes there. */
const secretName = /token|secret|passw|key|credential|auth/i;

/** What of `env_pass` this Node does not give away. */
export function environmentProblems(profile: CliProfile, allowed: readonly string[]): string[] {
  const list = allowed.length === 0 ? 'none' : allowed.join(', ');
  return profile.env_pass
    .filter((name) => !allowed.includes(name))
    .map((name) => `env_pass: ${name} is not allowed by node.yaml (allow.environment: ${list})`);
}

export interface ChildEnvironment {
  variables: Record<string, string>;
  /** Values that messages must not hold. */
  secrets: readonly string[];
}

/** @param own the Node's environment: nothing of it that is not named goes on (C4) */
export function childEnvironment(
  profile: CliProfile,
  own: Readonly<Record<string, string | undefined>>,
  mark: string,
): ChildEnvironment {
  const variables: Record<string, string> = {};
  const secrets: string[] = [];
  for (const name of always) if (own[name] !== undefined) variables[name] = own[name];
  for (const name of profile.env_pass) {
    const value = own[name];
    if (value === undefined) continue;
    variables[name] = value;
    secrets.push(value);
  }
  for (const [name, value] of Object.entries(profile.env)) if (secretName.test(name)) secrets.push(value);
  Object.assign(variables, { TERM: 'dumb', NO_COLOR: '1' }, profile.env, { [markVariable]: mark });
  return { variables, secrets };
}
