import { durationMs, sizeBytes } from '@iop/shell';
import { z } from 'zod';

/** One target: which program, how it is called, how its output is read. */
export type CliProfile = z.output<typeof profileSchema>;

/** Paths in a JSON object and the values that they must have. */
export type Matcher = Readonly<Record<string, string | number | boolean | null>>;

const noNul = (text: string) => !text.includes('\0');
const text = z
  .string()
  .max(64 * 1024)
  .refine(noNul, 'expected a text without NUL');
const path = z
  .string()
  .regex(/^[^.]+(\.[^.]+)*$/, 'expected a path such as item.text or choices.0.delta')
  .max(256);
const matcher = z.record(path, z.union([z.string(), z.number(), z.boolean(), z.null()]));
const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of a variable');
const milliseconds = durationMs.refine((ms) => ms <= 24 * 3_600_000, 'expected at most 24h');

/** What a program may say by its exit code: why it stopped, or what kind of failure it was. */
export const exitMeanings = [
  'stop',
  'length',
  'content-filter',
  'other',
  'invalid',
  'unauthenticated',
  'forbidden',
  'not-found',
  'exhausted',
  'unavailable',
  'timeout',
  'unsupported',
] as const;
export type ExitMeaning = (typeof exitMeanings)[number];

const profileSchema = z
  .strictObject({
    program: text.min(1),
    args: z.array(text).max(256).default([]),
    directory: text.min(1),
    prompt: z.enum(['stdin', 'argument']).default('stdin'),
    messages: z.enum(['last', 'transcript']).default('last'),
    env: z.record(variableName, text).default({}),
    env_pass: z.array(variableName).max(64).default([]),
    output: z.enum(['text', 'jsonl']).default('text'),
    field: path.optional(),
    where: matcher.default({}),
    separator: text.default(''),
    end: matcher.optional(),
    fail: matcher.optional(),
    message: path.optional(),
    other_lines: z.enum(['fail', 'skip']).default('fail'),
    allow_empty: z.boolean().default(false),
    exit_codes: z
      .record(
        z.string().regex(/^(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/, 'expected an exit code'),
        z.enum(exitMeanings),
      )
      .default({}),
    progress_timeout: milliseconds.prefault('10m'),
    total_timeout: milliseconds.prefault('1h'),
    grace: milliseconds.prefault('5s'),
    drain: milliseconds.prefault('1s'),
    max_line: sizeBytes.prefault('1MiB'),
    max_output: sizeBytes.prefault('16MiB'),
  })
  .refine((profile) => profile.output === 'text' || profile.field !== undefined, {
    message: 'output jsonl needs the path of the text in a line',
    path: ['field'],
  })
  .refine((profile) => profile.output === 'jsonl' || !(profile.field || profile.end || profile.fail), {
    message: 'field, end and fail are for output jsonl',
    path: ['output'],
  });

export const profileKeys: readonly string[] = Object.keys(profileSchema.shape);

export type ParsedProfile =
  | { kind: 'profile'; profile: CliProfile }
  | { kind: 'invalid'; problems: string[] };

/** A profile from its JSON; what is wrong is said with the path in it and what was expected. */
export function parseCliProfile(json: string): ParsedProfile {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { kind: 'invalid', problems: [`the profile is not JSON: ${(error as Error).message}`] };
  }
  const parsed = profileSchema.safeParse(value);
  if (parsed.success) return { kind: 'profile', profile: parsed.data };
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'profile'}: ${message}`,
  );
  return { kind: 'invalid', problems };
}
