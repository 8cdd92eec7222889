import type { Clock, RunEnd } from '@iop/domain';
import {
  type Adapter,
  type Capabilities,
  dialects,
  type EventSink,
  type ExecutionSpec,
  factNames,
  type TargetFact,
} from '@iop/runtime';
import { createOutput } from './create-output.ts';
import { invalidFailure } from './mock-faults.ts';
import { MockPlayer } from './mock-player.ts';
import { readMockRequest } from './mock-request.ts';
import type { MockScript } from './mock-script.ts';

export interface MockOptions {
  name: string;
  /** By target, with the script that it plays when a prompt carries none. */
  targets: ReadonlyMap<string, MockScript | undefined>;
}

/** What a script can make it do. */
const facts: readonly TargetFact[] = factNames
  .filter((name) => name !== 'images')
  .map((name) => ({ name, holds: true, source: 'declared' }));

/** A model that does what it is told: it echoes, streams, stalls, cuts, fails. See docs/mock.md. */
export function createMockAdapter(options: MockOptions, deps: { clock: Clock }): Adapter {
  const { name, targets } = options;
  return {
    name,
    kind: 'mock',
    retry: 'before-content',
    sessions: 'portable',
    dialects,
    capabilities: async (): Promise<Capabilities> => ({
      healthy: true,
      detail: '',
      targets: [...targets.keys()].map((name) => ({ name, facts })),
    }),
    execute(spec, sink, signal) {
      return execute({ spec, sink, signal, targets, clock: deps.clock });
    },
    close: async () => {},
  };
}

interface Execution {
  spec: ExecutionSpec;
  sink: EventSink;
  signal: AbortSignal;
  targets: MockOptions['targets'];
  clock: Clock;
}

async function execute({ spec, sink, signal, targets, clock }: Execution): Promise<RunEnd> {
  if (!targets.has(spec.target)) {
    const known = [...targets.keys()].join(', ');
    const message = `the mock has no target ${spec.target}; it has ${known}`;
    return { kind: 'failed', failure: { ...invalidFailure('target.unknown', message), kind: 'not-found' } };
  }
  const read = readMockRequest(spec, targets.get(spec.target));
  if (read.kind === 'invalid')
    return { kind: 'failed', failure: invalidFailure('mock.invalid', read.message) };
  const { request } = read;
  const output = createOutput(spec, request, clock);
  return new MockPlayer({ request, runId: spec.runId, output, sink, signal, clock }).run();
}
