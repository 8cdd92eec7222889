import { durationMs, sizeBytes } from '@iop/shell';
import { z } from 'zod';

/**
 * One target of the adapter `cli`: which program, how it is called, how its output is read. The Edge
 * checks it when edge.yaml is read, the Node once more when it comes over the wire.
 */
export type CliProfile = z.output<z.ZodObject<typeof cliProfileKeys>>;

/** Paths in a JSON object and the values that they must have. */
export type Matcher = Readonly<Record<string, string | number | boolean | null>>;

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

const noNul = (text: string) => !text.includes('\0');
const text = z
  .string()
  .max(64 * 1024)
  .refine(noNul, 'expected a text without NUL');
const path = z
  .string()
  .max(256)
  .regex(/^[^.]+(\.[^.]+)*$/, 'expected a path such as item.text or choices.0.delta');
const matcher = z.record(path, z.union([z.string(), z.number(), z.boolean(), z.null()]));
const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of a variable');
const exitCode = z.string().regex(/^(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/, 'expected an exit code');
const milliseconds = durationMs.refine((ms) => ms <= 24 * 3_600_000, 'expected at most 24h');

const call = {
  program: text
    .min(1)
    .describe('Absolute path, or the bare name of a program that `allow.programs` of node.yaml names.'),
  args: z
    .array(text)
    .max(256)
    .default([])
    .describe('Arguments, as they are: no shell reads them, nothing is put into them.'),
  directory: text.min(1).describe('Where it works: absolute, and inside `allow.directories` of node.yaml.'),
  prompt: z
    .enum(['stdin', 'argument'])
    .default('stdin')
    .describe('How it is given the prompt; `argument`: as the last one, behind `--`.'),
  messages: z
    .enum(['last', 'transcript'])
    .default('last')
    .describe('What of a chat it is given: system text and last message, or all under their roles.'),
  env: z
    .record(variableName, text)
    .default({})
    .describe('Variables that are set for it. Not for secrets: they would stand in edge.yaml.'),
  env_pass: z
    .array(variableName)
    .max(64)
    .default([])
    .describe("Variables of the Node's own environment; `allow.environment` of node.yaml must name them."),
};

const reading = {
  output: z
    .enum(['text', 'jsonl'])
    .default('text')
    .describe('`text`: what it puts out is the answer. `jsonl`: one JSON object a line.'),
  field: path.optional().describe('`jsonl`: where in a line the text stands, such as `item.text`.'),
  where: matcher.default({}).describe('`jsonl`: only of lines with these values at these paths.'),
  separator: text.default('').describe('`jsonl`: put between two texts.'),
  end: matcher
    .optional()
    .describe(
      '`jsonl`: the line that ends the answer. Without it the run has failed; after it nothing counts.',
    ),
  fail: matcher.optional().describe('`jsonl`: a line by which the program says that it failed.'),
  message: path.optional().describe('`jsonl`: where in that line it says why.'),
  usage: z
    .strictObject({
      where: matcher.default({}).describe('Only lines with these values; the last one counts.'),
      prompt: path.describe('Where the number of tokens of the prompt stands.'),
      completion: path.describe('Where the number of tokens of the answer stands.'),
    })
    .optional()
    .describe('`jsonl`: tokens as the program counts them; without it none are told.'),
  other_lines: z
    .enum(['fail', 'skip'])
    .default('fail')
    .describe('`jsonl`: what a line means that is not a JSON object.'),
  allow_empty: z.boolean().default(false).describe('Whether no answer at all is one.'),
  exit_codes: z
    .record(exitCode, z.enum(exitMeanings))
    .default({})
    .describe(
      `What exit codes mean: ${exitMeanings.join(', ')}. Not named: 0 is \`stop\`, others \`unavailable\`.`,
    ),
};

const bounds = {
  progress_timeout: milliseconds.prefault('10m').describe('Longest time without a byte; 0: none.'),
  total_timeout: milliseconds.prefault('1h').describe('Longest time in all; 0: none.'),
  grace: milliseconds.prefault('5s').describe('Between TERM and KILL when it is stopped.'),
  drain: milliseconds
    .prefault('1s')
    .describe('How long output may go on after its end, and it may live on after the end of its output.'),
  max_line: sizeBytes.prefault('1MiB').describe('`jsonl`: longest line.'),
  max_output: sizeBytes.prefault('16MiB').describe('Longest output in all.'),
};

/** For an object with further keys; `checkCliProfile` goes with it. */
export const cliProfileKeys = { ...call, ...reading, ...bounds };

/** Variables by which a loader or an interpreter runs what it was not told to run. */
const dangerous =
  /^(PATH|LD_.*|DYLD_.*|NODE_OPTIONS|NODE_PATH|NODE_REPL_.*|BASH_ENV|ENV|IFS|SHELLOPTS|BASHOPTS|PS4|PYTHON.*|PERL5.*|PERLLIB|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|GIT_.*|GCONV_PATH|EDITOR|VISUAL|PAGER|IOP_.*)$/;

/** Keys of jsonl that text has no use for. */
const forJsonl = ['field', 'end', 'fail', 'usage'] as const;

/** What one key of a profile says of another. */
export function checkCliProfile(profile: Partial<CliProfile>, context: z.core.$RefinementCtx): void {
  const refuse = (key: string | string[], message: string) =>
    context.addIssue({ code: 'custom', path: [key].flat(), message });
  for (const name of Object.keys(profile.env ?? {}).filter((each) => dangerous.test(each))) {
    refuse(['env', name], 'expected another name: by this one a program can be made to run another one');
  }
  if (profile.output === 'jsonl') {
    if (profile.field === undefined)
      refuse('field', 'expected the path of the text in a line of output jsonl');
    return;
  }
  for (const key of forJsonl) if (profile[key] !== undefined) refuse(key, 'expected only with output jsonl');
}
