export {
  create,
  type DescMessage,
  fromJson,
  type JsonValue,
  type MessageShape,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
export { decodeMessage, encodeMessage, type ReadMessage, type WireMessage } from './codec.ts';
export { eventOverheadBytes, runEventPayloadBytes, runEventSizeBytes } from './event-size.ts';
export {
  type ErrorFacts,
  failureToError,
  fromFailed,
  fromFailure,
  maxUpstreamBodyBytes,
  toFailed,
  toFailure,
} from './failure.ts';
export { FrameDecoder, type FrameViolation, frameHeaderBytes, maxFrameBytes } from './frame-decoder.ts';
export { encodeFrame, FrameWriter } from './frame-writer.ts';
export * from './gen/iop/wire/v1/envelope_pb.ts';
export * from './gen/iop/wire/v1/handshake_pb.ts';
export * from './gen/iop/wire/v1/life_pb.ts';
export * from './gen/iop/wire/v1/node_pb.ts';
export * from './gen/iop/wire/v1/operator_pb.ts';
export * from './gen/iop/wire/v1/run_pb.ts';
export {
  agreeVersion,
  type ProtocolRevision,
  protocolFloor,
  protocolHistory,
  protocolVersion,
} from './protocol-version.ts';
export { fromCancelCause, fromEndEvent, fromWireUsage, toEndEvent, toWireUsage } from './run-end.ts';
export { RunEventsWriter } from './run-events-writer.ts';
export { fromWireRunState, toWireRunState } from './run-state.ts';
