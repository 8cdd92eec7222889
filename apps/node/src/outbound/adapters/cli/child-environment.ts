import type { CliProfile } from './cli-profile.ts';

/** By this a process of a run is known, whatever it became: 128 random bits (C5). */
export const markVariable = 'IOP_RUN_MARK';

/** What any program needs; taken from the Node's own environment where it is there. */
const always = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/** Variables by which a loader or an interpreter runs what it was not told to run. */
const dangerous =
  /^(PATH|LD_.*|DYLD_.*|NODE_OPTIONS|NODE_PATH|NODE_REPL_.*|BASH_ENV|ENV|IFS|SHELLOPTS|BASHOPTS|PS4|PYTHON.*|PERL5.*|PERLLIB|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|GIT_.*|GCONV_PATH|EDITOR|VISUAL|PAGER|IOP_.*)$/;

export function environmentProblems(profile: CliProfile, allowed: readonly string[]): string[] {
  const set = Object.keys(profile.env)
    .filter((name) => dangerous.test(name))
    .map((name) => `env.${name}: may not be set; it can make a program run another one`);
  const passed = profile.env_pass
    .filter((name) => !allowed.includes(name))
    .map((name) => {
      const list = allowed.length === 0 ? 'none' : allowed.join(', ');
      return `env_pass: ${name} is not allowed by node.yaml (allow.environment: ${list})`;
    });
  return [...set, ...passed];
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
  Object.assign(variables, { TERM: 'dumb', NO_COLOR: '1' }, profile.env, { [markVariable]: mark });
  return { variables, secrets };
}
