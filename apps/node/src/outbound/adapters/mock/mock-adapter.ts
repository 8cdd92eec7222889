import type { Clock, RunEnd } from '@iop/domain';
import type { Adapter, Capabilities, EventSink, ExecutionSpec } from '@iop/runtime';
import { JsonOutput } from './json-output.ts';
import { invalidFailure } from './mock-faults.ts';
import type { MockOutput } from './mock-output.ts';
import { MockPlayer } from './mock-player.ts';
import { type MockRequest, readMockRequest } from './mock-request.ts';
import type { MockScript } from './mock-script.ts';
import { PromptOutput } from './prompt-output.ts';
import { StreamOutput } from './stream-output.ts';

export interface MockOptions {
  name: string;
  /** By target, with the script that it plays when a prompt carries none. */
  targets: ReadonlyMap<string, MockScript | undefined>;
}

/** A model that does what it is told: it echoes, streams, stalls, cuts, fails. See docs/mock.md. */
export function createMockAdapter(options: MockOptions, deps: { clock: Clock }): Adapter {
  const { name, targets } = options;
  return {
    name,
    kind: 'mock',
    retry: 'before-content',
    sessions: 'portable',
    dialects: ['openai.chat', 'iop.prompt'],
    capabilities: async (): Promise<Capabilities> => ({
      healthy: true,
      detail: '',
      targets: [...targets.keys()].map((target) => ({ name: target })),
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

function createOutput(spec: ExecutionSpec, request: MockRequest, clock: Clock): MockOutput {
  if (spec.dialect === 'iop.prompt') return new PromptOutput();
  const head = {
    id: `chatcmpl-${spec.runId}`,
    created: Math.floor(clock.wall() / 1000),
    model: spec.target,
    choices: request.choices,
    reasoningField: request.script.reasoning_field,
    includeUsage: spec.includeUsage,
  };
  return spec.stream ? new StreamOutput(head) : new JsonOutput(head);
}
