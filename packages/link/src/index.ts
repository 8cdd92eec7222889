export {
  type Acceptor,
  type AcceptorLimits,
  type AcceptorOptions,
  createAcceptor,
  defaultAcceptorLimits,
} from './acceptor.ts';
export { type AttemptOutcome, attemptLink, type DialOptions } from './attempt.ts';
export { Backoff, backoffCapMs, healthyAfterMs } from './backoff.ts';
export { connectLink } from './connect.ts';
export type { HelloInfo, ServerFacts } from './handshake/dialer-handshake.ts';
export type { Identity, LinkCrypto } from './identity.ts';
export type { Rejection } from './incoming-handshake.ts';
export { laneOf } from './lane.ts';
export type {
  Admission,
  Lane,
  Link,
  LinkHandlers,
  LinkMessage,
  LinkOutcome,
  LinkPeer,
  ProvenPeer,
} from './link.ts';
export { BodyReceiver, type BodyReceiverOptions, type BodyStep } from './run/body-receiver.ts';
export { BodySender, type BodySenderOptions, bodyWindowBytes } from './run/body-sender.ts';
export { ackWithinMs, Ledger, type LedgerBook } from './run/ledger.ts';
export { maxPayloadBytes, Pump, type PumpSource } from './run/pump.ts';
export { type InboxStep, RunInbox, type RunInboxOptions } from './run/run-inbox.ts';
export { type RestoredRun, RunOutbox, type RunOutboxOptions } from './run/run-outbox.ts';
export { SpareRoom, type SpareRoomLimits } from './run/spare-room.ts';
export { defaultWindowBytes, smallestWindowBytes, WindowBudget } from './run/window-budget.ts';
export {
  type AttemptEnd,
  createSupervisor,
  type Supervisor,
  type SupervisorOptions,
  type SupervisorState,
} from './supervisor.ts';
export type { Dial, Transport, TransportHandlers, TransportPeer } from './transport.ts';
