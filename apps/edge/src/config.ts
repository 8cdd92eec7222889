import { type ConfigOf, defineConfig, durationMs, logSection, port, section, sizeBytes } from '@iop/shell';
import { z } from 'zod';
import { adapter, concurrency, count, name } from './config-adapters.ts';
import { httpSection } from './config-http.ts';
import { checkReferences } from './config-references.ts';

const route = z.strictObject({
  name: z.string().min(1).max(256).describe('A public name of a target, or adapter/name.'),
  tier: z.int().min(1).max(100).default(1).describe('Lower ones are asked first.'),
  weight: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe(
      'Share within its tier; where none of a tier has one, the least busy place of all gets the run.',
    ),
});

const model = z.strictObject({
  name: z.string().min(1).max(256).describe('The public name.'),
  adapter: name.optional().describe('With `target`: what the name stands for.'),
  target: z.string().min(1).optional().describe('As the upstream calls it.'),
  fallback: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('Instead of adapter and target: names in order; the first that can take a run is meant.'),
  routes: z
    .array(route)
    .min(1)
    .optional()
    .describe('Instead of fallback, for shares by weight: names with tier and weight.'),
  concurrency,
});

/** edge.yaml: the truth about one Edge. */
export const edgeConfig = defineConfig({
  program: 'iop-edge',
  envPrefix: 'IOP_EDGE_',
  schema: z
    .strictObject({
      name: name.describe('For people: which Edge this is.'),
      state_dir: z.string().min(1).describe('Identity, tokens and store, made by `iop-edge init`.'),
      wire: section({
        host: z.string().min(1).default('127.0.0.1').describe('Where Nodes and operators dial.'),
        port: port.default(7400),
        tls: z.boolean().default(true).describe('False is accepted on loopback only.'),
      }),
      http: httpSection,
      adapters: z.array(adapter).default([]),
      models: z.array(model).default([]).describe('Public names; a target without one goes by its own.'),
      limits: section({
        queue: count.default(256).describe('Runs that may wait for a place.'),
        queue_wait: durationMs.prefault('60s').describe('How long one may wait.'),
        node_concurrency: count.default(0).describe('Runs at once on one Node; 0: no limit.'),
        heartbeat: durationMs.prefault('10s').describe('Pings on a link; rarer when there are many Nodes.'),
        lost_after: durationMs.prefault('15s').describe('A run whose Node is away so long is lost.'),
        detached_lost_after: durationMs.prefault('10m').describe('The same for a detached run.'),
        detached_queue_wait: durationMs
          .prefault('1h')
          .describe('How long a detached run may wait for a place.'),
        redispatch_after: durationMs
          .prefault('300ms')
          .describe('A run without content whose Node is away so long starts on another one.'),
        orphan_after: durationMs
          .prefault('10s')
          .describe('A Node without a link stops its runs after this; shorter than lost_after.'),
        stall_after: durationMs
          .prefault('60s')
          .describe('A run whose caller takes nothing for so long is ended.'),
        run_deadline: durationMs.prefault(0).describe('Longest life of a run; 0: no limit.'),
        stop_after: durationMs
          .prefault('10s')
          .describe('A Node that does not confirm a cancel for so long is no longer waited for.'),
        attempts: z.int().min(1).max(100).default(3).describe('Dispatches of one run.'),
        breaker_failures: count
          .default(5)
          .describe('Failures in a row that keep runs away from a target on a Node; 0: none do.'),
        breaker_open: durationMs
          .prefault('2s')
          .describe('How long the first time; doubles each time, up to a minute.'),
        drain: durationMs
          .prefault('3s')
          .describe('When the Edge is stopped, runs may end by themselves so long.'),
      }),
      history: section({
        content: z
          .enum(['full', 'metadata'])
          .default('full')
          .describe('What is kept of attached runs: all, or only what the Edge itself has to say of them.'),
        retention: durationMs.prefault('7d').describe('Of records, and of what attached runs said.'),
        content_limit: sizeBytes
          .prefault('2GiB')
          .describe('All that attached runs said; the oldest goes first.'),
        store: z
          .enum(['allow', 'refuse'])
          .default('allow')
          .describe('Whether callers may have runs stored: background, `store: true`.'),
        stored_retention: durationMs.prefault('30d').describe('Of stored and detached runs.'),
      }),
      log: logSection,
    })
    .superRefine(checkReferences),
});

export type EdgeConfig = ConfigOf<typeof edgeConfig>;
