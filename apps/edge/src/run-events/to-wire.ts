import {
  ArtifactEventSchema,
  AttemptEndEventSchema,
  AttemptEventSchema,
  CandidateSchema,
  create,
  HeadEventSchema,
  LogEventSchema,
  LogStream,
  PermissionRequestEventSchema,
  PlanEventSchema,
  ProgressEventSchema,
  RawEventSchema,
  ReasoningEventSchema,
  type RunEvent,
  RunEventSchema,
  StateEventSchema,
  StepEventSchema,
  TextEventSchema,
  ToolActivityEventSchema,
  ToolCallEventSchema,
  toEndEvent,
  toFailure,
  toWireRunState,
  toWireUsage,
  UsageEventSchema,
} from '@iop/wire';
import type { LogEvent } from '../ports/run-log.ts';

/** An event of a run's log as a message of the wire. */
export function toRunEvent(event: LogEvent): RunEvent {
  // the hot path: an object as `create` would make it, without its reflection
  if (event.kind === 'raw') {
    const { dialect, bytes, more } = event;
    const data = bytes as Uint8Array<ArrayBuffer>;
    const value = { $typeName: 'iop.wire.v1.RawEvent', dialect, data, more } as const;
    return { $typeName: 'iop.wire.v1.RunEvent', kind: { case: 'raw', value } };
  }
  return create(RunEventSchema, { kind: toKind(event) });
}

type Kind = Exclude<RunEvent['kind'], { case: undefined }>;
type Encoders = { [K in LogEvent['kind']]: (event: Extract<LogEvent, { kind: K }>) => Kind };

/** One row a kind, so that a new kind does not compile until it has one. */
const encoders: Encoders = {
  raw: ({ dialect, bytes: data, more }) => ({
    case: 'raw',
    value: create(RawEventSchema, { dialect, data, more }),
  }),
  head: ({ contentType }) => ({ case: 'head', value: create(HeadEventSchema, { contentType }) }),
  text: ({ text }) => ({ case: 'text', value: create(TextEventSchema, { text }) }),
  reasoning: ({ text }) => ({ case: 'reasoning', value: create(ReasoningEventSchema, { text }) }),
  'tool-call': ({ kind, ...fields }) => ({ case: 'toolCall', value: create(ToolCallEventSchema, fields) }),
  'tool-activity': ({ kind, ...fields }) => ({
    case: 'toolActivity',
    value: create(ToolActivityEventSchema, fields),
  }),
  plan: ({ entriesJson }) => ({ case: 'plan', value: create(PlanEventSchema, { entriesJson }) }),
  'permission-request': ({ kind, ...fields }) => ({
    case: 'permissionRequest',
    value: create(PermissionRequestEventSchema, fields),
  }),
  step: ({ kind, ...fields }) => ({ case: 'step', value: create(StepEventSchema, fields) }),
  log: ({ stream, bytes: data }) => ({
    case: 'log',
    value: create(LogEventSchema, { stream: logStreams[stream], data }),
  }),
  artifact: ({ kind, bytes: data, ...fields }) => ({
    case: 'artifact',
    value: create(ArtifactEventSchema, { ...fields, data }),
  }),
  usage: ({ usage }) => ({ case: 'usage', value: create(UsageEventSchema, { usage: toWireUsage(usage) }) }),
  progress: ({ kind, ...fields }) => ({ case: 'progress', value: create(ProgressEventSchema, fields) }),
  attempt: ({ kind, candidates, ...fields }) => ({
    case: 'attempt',
    value: create(AttemptEventSchema, {
      ...fields,
      candidates: candidates.map((each) => create(CandidateSchema, each)),
    }),
  }),
  'attempt-end': ({ attempt, failure }) => ({
    case: 'attemptEnd',
    value: create(AttemptEndEventSchema, { attempt, failure: toFailure(failure) }),
  }),
  state: ({ state }) => ({
    case: 'state',
    value: create(StateEventSchema, { state: toWireRunState(state) }),
  }),
  end: ({ end }) => ({ case: 'end', value: toEndEvent(end) }),
};

const logStreams = { stdout: LogStream.STDOUT, stderr: LogStream.STDERR, system: LogStream.SYSTEM };

function toKind(event: LogEvent): Kind {
  const encode = encoders[event.kind] as (event: LogEvent) => Kind;
  return encode(event);
}
