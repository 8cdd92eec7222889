import { isName } from '@iop/domain';
import { type ConfigOf, defineConfig, hostPort, logSection, section } from '@iop/shell';
import { z } from 'zod';

const pin = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'expected sha256: and 64 hex digits, as iop-edge init prints it');
const name = z.string().refine(isName, 'expected a name such as gpu-1: lower case letters, digits, . _ -');

/** node.yaml: who this Node is, which Edge it belongs to, and what an Edge may do with it. */
export const nodeConfig = defineConfig({
  program: 'iop-node',
  envPrefix: 'IOP_NODE_',
  schema: z.strictObject({
    name: name.describe('The name under which this Node is registered at its Edge.'),
    state_dir: z.string().min(1).describe('Identity and history; made with mode 0700 if it is not there.'),
    edge: z.strictObject({
      address: hostPort.describe('Wire port of the Edge.'),
      pins: z
        .array(pin)
        .min(1)
        .describe("Fingerprints of the Edge's key: the current one, and the next while it is changed."),
      token_file: z
        .string()
        .min(1)
        .optional()
        .describe('File with the token that enrols this Node; not needed once the Edge knows it.'),
      tls: z.boolean().default(true).describe('False only for an Edge on this very machine.'),
    }),
    allow: section({
      adapters: z
        .array(z.string())
        .default(['mock', 'vllm', 'ollama', 'cli'])
        .describe('Kinds of adapters an Edge may configure.'),
      programs: z
        .array(z.string())
        .default([])
        .describe('Programs an Edge may have started, as absolute paths; none by default.'),
      directories: z
        .array(z.string())
        .default([])
        .describe('Directories in which an Edge may name files and programs may work.'),
      environment: z
        .array(z.string())
        .default([])
        .describe('Variables of the environment of iop-node that programs may be given; none by default.'),
      hosts: z
        .array(z.string())
        .default(['127.0.0.1', 'localhost', '::1'])
        .describe('Hosts that adapters may call.'),
    }),
    labels: z.record(z.string(), z.string()).default({}).describe('For people and for routing.'),
    log: logSection,
  }),
});

export type NodeConfig = ConfigOf<typeof nodeConfig>;
