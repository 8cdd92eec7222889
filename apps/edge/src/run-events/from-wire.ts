import { type Dialect, isDialect, type RuntimeEvent } from '@iop/runtime';
import {
  fromEndEvent,
  fromFailure,
  fromWireRunState,
  fromWireUsage,
  LogStream,
  type RunEvent,
  type AttemptEvent as WireAttempt,
} from '@iop/wire';
import { type AttemptEvent, type LogEvent, verdicts } from '../ports/run-log.ts';

/** An event of a run's log; undefined: a kind of a newer version. */
export function toLogEvent(event: RunEvent): LogEvent | undefined {
  const { kind } = event;
  switch (kind.case) {
    case 'attempt':
      return toAttempt(kind.value);
    case 'attemptEnd': {
      const { attempt, failure } = kind.value;
      return { kind: 'attempt-end', attempt, failure: { ...fromFailure(failure), retryable: true } };
    }
    case 'state':
      return { kind: 'state', state: fromWireRunState(kind.value.state) };
    case 'end':
      return { kind: 'end', end: fromEndEvent(kind.value) };
    default:
      return toRuntimeEvent(event);
  }
}

function toAttempt({ $typeName, $unknown, candidates, ...fields }: WireAttempt): AttemptEvent {
  const seen = candidates.map(({ $typeName: _type, $unknown: _unknown, verdict, ...place }) => ({
    ...place,
    verdict: verdicts.find((known) => known === verdict) ?? 'free',
  }));
  return { kind: 'attempt', ...fields, candidates: seen };
}

/** What a reader gets of a wire event; undefined: nothing (a change of state, an end, a kind of a newer Node). */
export function toRuntimeEvent({ kind }: RunEvent): RuntimeEvent | undefined {
  // first, because it is nearly all of them
  if (kind.case === 'raw') {
    const { dialect, data, more } = kind.value;
    return { kind: 'raw', dialect: toDialect(dialect), bytes: data, more };
  }
  return toOther(kind);
}

function toOther(kind: RunEvent['kind']): RuntimeEvent | undefined {
  switch (kind.case) {
    case 'head':
      return { kind: 'head', contentType: kind.value.contentType };
    case 'text':
    case 'reasoning':
      return { kind: kind.case, text: kind.value.text };
    case 'toolCall': {
      const { index, id, name, argumentsJson } = kind.value;
      return { kind: 'tool-call', index, id, name, argumentsJson };
    }
    case 'toolActivity': {
      const { id, title, status, detailJson } = kind.value;
      return { kind: 'tool-activity', id, title, status, detailJson };
    }
    case 'plan':
      return { kind: 'plan', entriesJson: kind.value.entriesJson };
    case 'permissionRequest': {
      const { id, title, optionsJson } = kind.value;
      return { kind: 'permission-request', id, title, optionsJson };
    }
    default:
      return toReport(kind);
  }
}

function toReport(kind: RunEvent['kind']): RuntimeEvent | undefined {
  switch (kind.case) {
    case 'step': {
      const { id, name, status } = kind.value;
      return { kind: 'step', id, name, status };
    }
    case 'log':
      return { kind: 'log', stream: toLogStream(kind.value.stream), bytes: kind.value.data };
    case 'artifact': {
      const { id, name, mediaType, data, last } = kind.value;
      return { kind: 'artifact', id, name, mediaType, bytes: data, last };
    }
    case 'usage':
      return kind.value.usage && { kind: 'usage', usage: fromWireUsage(kind.value.usage) };
    case 'progress': {
      const { message, fraction } = kind.value;
      return fraction === undefined ? { kind: 'progress', message } : { kind: 'progress', message, fraction };
    }
    default:
      return undefined;
  }
}

function toDialect(text: string): Dialect {
  return isDialect(text) ? text : 'iop.prompt';
}

function toLogStream(stream: LogStream): 'stdout' | 'stderr' | 'system' {
  if (stream === LogStream.STDOUT) return 'stdout';
  return stream === LogStream.STDERR ? 'stderr' : 'system';
}
