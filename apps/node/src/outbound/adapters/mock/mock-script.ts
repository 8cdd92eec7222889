import { sizeBytes } from '@iop/shell';
import { z } from 'zod';

/** How a mock run goes. Guide with examples: docs/mock.md, which a test holds against this schema. */
export type MockScript = z.output<typeof scriptSchema>;

const count = z.int().min(0).max(1_000_000);
const milliseconds = z.int().min(0).max(3_600_000);
const maxSizeBytes = 1024 * 1024 * 1024;

const toolCall = z.strictObject({
  name: z.string().min(1).max(64),
  /** An object is written as JSON; a text is streamed as it is, valid JSON or not. */
  arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).default({}),
  id: z.string().min(1).max(64).optional(),
  /** In how many pieces the arguments are streamed. */
  pieces: z.int().min(1).max(1000).default(2),
});

const fault = { at: count.default(0) };

const scriptSchema = z
  .strictObject({
    text: z.string().optional(),
    size: sizeBytes.refine((size) => size <= maxSizeBytes, 'expected at most 1GiB').optional(),
    chunks: z.int().min(1).max(1_000_000).optional(),
    delay_ms: milliseconds.default(0),
    pace_ms: milliseconds.default(0),
    reasoning: z.string().optional(),
    reasoning_field: z.enum(['reasoning', 'reasoning_content']).default('reasoning'),
    tool_calls: z.array(toolCall).max(64).default([]),
    after_tools: z.string().optional(),
    finish_reason: z.string().min(1).max(64).optional(),
    usage: z
      .union([z.literal(false), z.strictObject({ prompt_tokens: count, completion_tokens: count })])
      .optional(),
    choices: z.int().min(1).max(128).optional(),
    stall: z.strictObject({ ...fault, ms: milliseconds.optional() }).optional(),
    cut: z.strictObject(fault).optional(),
    error: z
      .strictObject({
        ...fault,
        status: z.int().min(400).max(599).default(500),
        message: z.string().max(10_000).default('the mock was told to fail'),
        type: z.string().max(100).default('server_error'),
        code: z.string().max(100).optional(),
        retryable: z.boolean().optional(),
        retry_after_ms: milliseconds.optional(),
      })
      .optional(),
    malformed: z.strictObject({ ...fault, deliver: z.boolean().default(false) }).optional(),
    ignore_cancel_ms: z.int().min(0).max(60_000).default(0),
  })
  .refine((script) => script.text === undefined || script.size === undefined, {
    message: 'give text or size, not both',
    path: ['size'],
  })
  .refine((script) => script.after_tools === undefined || script.tool_calls.length > 0, {
    message: 'after_tools is said when the tools of tool_calls have answered; give tool_calls too',
    path: ['after_tools'],
  })
  .refine((script) => [script.cut, script.error, script.malformed].filter(Boolean).length <= 1, {
    message: 'give one of cut, error and malformed',
  });

export const scriptKeys: readonly string[] = Object.keys(scriptSchema.shape);

export type ParsedScript = { kind: 'script'; script: MockScript } | { kind: 'invalid'; message: string };

/** A script from its JSON; what is wrong is said with the path in it and what was expected. */
export function parseMockScript(json: string): ParsedScript {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { kind: 'invalid', message: `the mock script is not JSON: ${(error as Error).message}` };
  }
  const parsed = scriptSchema.safeParse(value);
  if (parsed.success) return { kind: 'script', script: parsed.data };
  const issues = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'script'}: ${issue.message}`);
  return { kind: 'invalid', message: `the mock script is wrong: ${issues.join('; ')}` };
}

export const emptyScript: MockScript = scriptSchema.parse({});
