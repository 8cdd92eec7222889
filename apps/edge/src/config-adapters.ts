import { checkCliProfile, cliProfileKeys } from '@iop/cli-profile';
import { isName } from '@iop/domain';
import { durationMs } from '@iop/shell';
import { z } from 'zod';

/** Of an adapter, an Edge, a Node. */
export const name = z
  .string()
  .refine(isName, 'expected a name such as gpu-1: lower case letters, digits, . _ -');
export const count = z.int().min(0).max(1_000_000);
export const concurrency = count.default(0).describe('Runs at once on each Node; 0: no limit.');
const nodes = z
  .array(z.string().min(1))
  .min(1)
  .default(['*'])
  .describe('Which Nodes are given it: names, `label=value`, or "*" for all.');

/** What a mock does is its caller's wish, and must not close it for others. */
const breaker = (usual: boolean) =>
  z
    .boolean()
    .default(usual)
    .describe('Whether failures in a row, and Retry-After of the upstream, keep runs away for a while.');

const target = z.strictObject({
  name: z.string().min(1).describe('As the upstream calls it.'),
  concurrency,
});

const mockAdapter = z.strictObject({
  name: name.describe('Unique among the adapters; `name/target` means this adapter only.'),
  kind: z.literal('mock'),
  nodes,
  breaker: breaker(false),
  concurrency,
  targets: z
    .array(
      target.extend({
        script: z
          .record(z.string(), z.unknown())
          .optional()
          .describe('What it plays when a prompt carries no script of its own.'),
      }),
    )
    .default([])
    .describe('None: the target `echo`.'),
});

const vllmAdapter = z.strictObject({
  name: name.describe('Unique among the adapters; `name/target` means this adapter only.'),
  kind: z.literal('vllm').describe('Any server of the OpenAI dialect: vLLM, llama.cpp, SGLang, LM Studio.'),
  nodes,
  breaker: breaker(true),
  base_url: z
    .string()
    .refine(isHttpUrl, 'expected an address such as http://127.0.0.1:8000/v1, as the Node reaches it')
    .describe('Up to and including /v1, as the Node reaches it.'),
  api_key_file: z.string().min(1).optional().describe('File on the Node that holds the key of the upstream.'),
  concurrency,
  targets: z
    .array(
      target.extend({
        force_stream: z
          .boolean()
          .optional()
          .describe(
            'Ask the upstream always (true) or never (false) for a stream, whatever callers want: for servers whose tool parser works only one way.',
          ),
      }),
    )
    .default([])
    .describe('Limits of single targets; all that the upstream has are offered.'),
  connect_timeout: durationMs.prefault(0).describe('0: the default of the Node.'),
  first_byte_timeout: durationMs
    .prefault(0)
    .describe('From the request to the first byte of the answer; 0: the default of the Node.'),
  idle_timeout: durationMs
    .prefault(0)
    .describe('Between two pieces of an answer; 0: the default of the Node.'),
});

const ollamaAdapter = z.strictObject({
  name: name.describe('Unique among the adapters; `name/target` means this adapter only.'),
  kind: z.literal('ollama').describe('Ollama, by its own API.'),
  nodes,
  breaker: breaker(true),
  base_url: z
    .string()
    .refine(isHttpUrl, 'expected an address such as http://127.0.0.1:11434, as the Node reaches it')
    .default('http://127.0.0.1:11434')
    .describe('As the Node reaches it, without /api or /v1.'),
  api_key_file: z.string().min(1).optional().describe('File on the Node that holds the key of the upstream.'),
  concurrency,
  targets: z
    .array(target)
    .default([])
    .describe('Limits of single targets; all that the upstream has are offered.'),
  num_ctx: z
    .int()
    .min(0)
    .max(16_777_216)
    .default(0)
    .describe('Tokens of prompt and answer; changing it reloads models. 0: as Ollama is set up, often 4096.'),
  keep_alive: z
    .union([z.string(), z.int()])
    .optional()
    .describe('How long a model stays loaded: 5m, seconds, 0, or -1 for ever.'),
  think: z
    .enum(['on', 'off', 'low', 'medium', 'high', 'max'])
    .optional()
    .describe('For callers that do not ask for an effort, with models that can think.'),
  connect_timeout: durationMs.prefault(0).describe('0: the default of the Node.'),
  load_timeout: durationMs
    .prefault(0)
    .describe('From the request to the first byte: queue, loading, reading; 0: the default of the Node.'),
  idle_timeout: durationMs
    .prefault(0)
    .describe('Between two pieces of an answer; 0: the default of the Node.'),
});

const cliAdapter = z.strictObject({
  name: name.describe('Unique among the adapters; `name/target` means this adapter only.'),
  kind: z.literal('cli').describe('Programs, one process for each run: see cli-agents.md.'),
  nodes,
  breaker: breaker(true),
  concurrency,
  targets: z
    .array(
      z
        .strictObject({
          name: z.string().min(1).describe('As callers call it.'),
          concurrency,
          ...cliProfileKeys,
        })
        .superRefine(checkCliProfile),
    )
    .min(1),
});

/** One entry of `adapters:` in edge.yaml, by its kind. */
export const adapter = z.discriminatedUnion('kind', [mockAdapter, vllmAdapter, ollamaAdapter, cliAdapter]);

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
