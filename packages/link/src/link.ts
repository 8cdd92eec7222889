import type { Hello, Role, WireMessage } from '@iop/wire';
import type { TransportPeer } from './transport.ts';

/** Any message of the protocol as `{ case, value }`. */
export type LinkMessage = WireMessage;

/** Control frames leave before data frames that wait for the same socket. */
export type Lane = 'control' | 'data';

/** One live, authenticated connection. */
export interface Link {
  readonly peer: LinkPeer;
  /**
   * Leaves at the end of the tick. Ignored after the link has closed: whoever needs to know listens to
   * `onClosed`. The lane is that of `laneOf(message)` unless given.
   */
  send(message: LinkMessage, lane?: Lane): void;
  /** Bytes of data frames that wait for the socket. */
  readonly unsentBytes: number;
  /** Bytes of control frames that neither the socket nor the kernel has taken. Too many of them end the link. */
  readonly unsentControlBytes: number;
  /** Says Goodbye and closes after what was sent has left. */
  close(reason: string, reconnectAfterMs?: number): void;
  /** Closes at once: a broken or fenced peer. */
  destroy(reason: string): void;
  /** Last measured round trip of a ping, microseconds; undefined before the first. */
  readonly roundTripUs: number | undefined;
}

export interface LinkPeer {
  role: Role;
  /** Name of the identity. */
  name: string;
  /** 16 bytes as hex: one per process. */
  instance: string;
  epoch: number;
  build: string;
  labels: Readonly<Record<string, string>>;
  transport: TransportPeer;
}

export interface LinkHandlers {
  onMessage(message: LinkMessage): void;
  /** The socket took everything that waited; data may be pulled again. */
  onDrain?(): void;
  /** Exactly once. */
  onClosed(outcome: LinkOutcome): void;
}

/** Why a link ended: said once, for logs and decisions. */
export type LinkOutcome =
  | { kind: 'closed-here'; reason: string }
  | { kind: 'goodbye'; reason: string; reconnectAfterMs: number }
  | { kind: 'lost'; reason: string }
  | { kind: 'silent'; silentMs: number }
  | { kind: 'protocol-error'; code: string; reason: string; cause?: unknown };

/** What the accepting side's owner decides about a proven peer. */
export type Admission =
  | { kind: 'welcome'; epoch: number; heartbeatIntervalMs: number; fleetSize: number }
  | { kind: 'reject'; code: string; message: string; retryAfterMs: number };

/** Of a peer whose signature was verified; `token` is empty when none was sent. */
export interface ProvenPeer {
  hello: Hello;
  token: string;
  transport: TransportPeer;
}
