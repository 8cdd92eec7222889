import { create } from '@bufbuild/protobuf';
import {
  type CancelCause,
  cancelCauses,
  type FinishReason,
  finishReasons,
  type RunEnd,
  type Usage,
} from '@iop/domain';
import { fromFailed, toFailed } from './failure.ts';
import { CancelledSchema, type EndEvent, type Usage as WireUsage } from './gen/iop/wire/v1/run_pb.ts';

export function toEndEvent(end: RunEnd): EndEvent {
  // written out, as what is made for every run: `create` looks each field up
  const event: EndEvent = { $typeName: 'iop.wire.v1.EndEvent', end: toEndCase(end) };
  if (end.usage !== undefined) event.usage = toWireUsage(end.usage);
  return event;
}

/** An end that says nothing is a failure: no run may look whole by accident. */
export function fromEndEvent(event: EndEvent): RunEnd {
  const end = fromEndCase(event.end);
  return event.usage === undefined ? end : { ...end, usage: fromWireUsage(event.usage) };
}

export function toWireUsage(usage: Usage): WireUsage {
  const { promptTokens, completionTokens, estimated } = usage;
  return { $typeName: 'iop.wire.v1.Usage', promptTokens, completionTokens, estimated };
}

export function fromWireUsage(usage: WireUsage): Usage {
  const { promptTokens, completionTokens, estimated } = usage;
  return { promptTokens, completionTokens, estimated };
}

/** A cause that this version does not know counts as `operator`: somebody wanted it. */
export function fromCancelCause(text: string): CancelCause {
  return cancelCauses.find((known) => known === text) ?? 'operator';
}

function toEndCase(end: RunEnd): EndEvent['end'] {
  switch (end.kind) {
    case 'completed':
      return { case: 'completed', value: { $typeName: 'iop.wire.v1.Completed', finishReason: end.finish } };
    case 'failed':
      return { case: 'failed', value: toFailed(end.failure) };
    case 'cancelled':
      return { case: 'cancelled', value: create(CancelledSchema, { by: end.by }) };
  }
}

function fromEndCase(end: EndEvent['end']): RunEnd {
  switch (end.case) {
    case 'completed':
      return { kind: 'completed', finish: fromFinishReason(end.value.finishReason) };
    case 'failed':
      return { kind: 'failed', failure: fromFailed(end.value) };
    case 'cancelled':
      return { kind: 'cancelled', by: fromCancelCause(end.value.by) };
    default:
      return { kind: 'failed', failure: unreadableEnd };
  }
}

const unreadableEnd = {
  kind: 'internal',
  code: 'wire.unknown-end',
  message: 'the run ended in a way that this version of IOP does not know; update it',
  details: {},
  retryable: false,
} as const;

function fromFinishReason(text: string): FinishReason {
  return finishReasons.find((known) => known === text) ?? 'other';
}
