import type { RuntimeEvent } from '@iop/runtime';
import {
  ArtifactEventSchema,
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
  StepEventSchema,
  TextEventSchema,
  ToolActivityEventSchema,
  ToolCallEventSchema,
  toWireUsage,
  UsageEventSchema,
} from '@iop/wire';

export function toRunEvent(event: RuntimeEvent): RunEvent {
  return create(RunEventSchema, { kind: toKind(event) });
}

type Kind = Exclude<RunEvent['kind'], { case: undefined }>;
type Encoders = { [K in RuntimeEvent['kind']]: (event: Extract<RuntimeEvent, { kind: K }>) => Kind };

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
};

const logStreams = { stdout: LogStream.STDOUT, stderr: LogStream.STDERR, system: LogStream.SYSTEM };

function toKind(event: RuntimeEvent): Kind {
  const encode = encoders[event.kind] as (event: RuntimeEvent) => Kind;
  return encode(event);
}
