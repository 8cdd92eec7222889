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
  ReasoningEventSchema,
  type RunEvent,
  StepEventSchema,
  TextEventSchema,
  ToolActivityEventSchema,
  ToolCallEventSchema,
  toWireUsage,
  UsageEventSchema,
} from '@iop/wire';

/** One event of an adapter as it crosses the link. */
export function toWireEvent(event: RuntimeEvent): RunEvent {
  // The hot path: an object as `create` would make it, without its reflection.
  if (event.kind === 'raw') {
    const { dialect, bytes, more } = event;
    const value = {
      $typeName: 'iop.wire.v1.RawEvent',
      dialect,
      data: bytes as Uint8Array<ArrayBuffer>,
      more,
    } as const;
    return { $typeName: 'iop.wire.v1.RunEvent', kind: { case: 'raw', value } };
  }
  return { $typeName: 'iop.wire.v1.RunEvent', kind: toWireKind(event) };
}

type TypedEvent = Exclude<RuntimeEvent, { kind: 'raw' }>;

function toWireKind(event: TypedEvent): RunEvent['kind'] {
  switch (event.kind) {
    case 'head':
      return { case: 'head', value: create(HeadEventSchema, { contentType: event.contentType }) };
    case 'text':
      return { case: 'text', value: create(TextEventSchema, { text: event.text }) };
    case 'reasoning':
      return { case: 'reasoning', value: create(ReasoningEventSchema, { text: event.text }) };
    case 'tool-call': {
      const { index, id, name, argumentsJson } = event;
      return { case: 'toolCall', value: create(ToolCallEventSchema, { index, id, name, argumentsJson }) };
    }
    case 'usage':
      return { case: 'usage', value: create(UsageEventSchema, { usage: toWireUsage(event.usage) }) };
    case 'log':
      return {
        case: 'log',
        value: create(LogEventSchema, { stream: logStreams[event.stream], data: toBytes(event.bytes) }),
      };
    default:
      return toActivityKind(event);
  }
}

type ActivityEvent = Exclude<
  TypedEvent,
  { kind: 'head' | 'text' | 'reasoning' | 'tool-call' | 'usage' | 'log' }
>;

function toActivityKind(event: ActivityEvent): RunEvent['kind'] {
  switch (event.kind) {
    case 'tool-activity': {
      const { id, title, status, detailJson } = event;
      return {
        case: 'toolActivity',
        value: create(ToolActivityEventSchema, { id, title, status, detailJson }),
      };
    }
    case 'plan':
      return { case: 'plan', value: create(PlanEventSchema, { entriesJson: event.entriesJson }) };
    case 'permission-request': {
      const { id, title, optionsJson } = event;
      return {
        case: 'permissionRequest',
        value: create(PermissionRequestEventSchema, { id, title, optionsJson }),
      };
    }
    case 'step': {
      const { id, name, status } = event;
      return { case: 'step', value: create(StepEventSchema, { id, name, status }) };
    }
    case 'artifact': {
      const { id, name, mediaType, bytes, last } = event;
      return {
        case: 'artifact',
        value: create(ArtifactEventSchema, { id, name, mediaType, data: toBytes(bytes), last }),
      };
    }
    case 'progress': {
      const { message, fraction } = event;
      const values = fraction === undefined ? { message } : { message, fraction };
      return { case: 'progress', value: create(ProgressEventSchema, values) };
    }
  }
}

const logStreams = { stdout: LogStream.STDOUT, stderr: LogStream.STDERR, system: LogStream.SYSTEM } as const;

/** The generated types want to know that no other thread shares the memory; none does here. */
function toBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}
