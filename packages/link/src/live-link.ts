import type { Clock } from '@iop/domain';
import {
  create,
  type FrameViolation,
  GoodbyeSchema,
  maxFrameBytes,
  PingSchema,
  ProtocolErrorSchema,
} from '@iop/wire';
import { describeViolation, type FrameChannel } from './frame-channel.ts';
import { Heartbeat } from './heartbeat.ts';
import { IncomingMessages } from './incoming-messages.ts';
import { laneOf } from './lane.ts';
import type { Lane, Link, LinkHandlers, LinkMessage, LinkOutcome, LinkPeer } from './link.ts';
import { SendQueue } from './send-queue.ts';

/** With more data than this waiting, `onDrain` will tell when it has left. */
const drainMarkBytes = 64 * 1024;
/** A peer that lets so many control frames wait does not read. */
const controlBacklogLimitBytes = 4 * 1024 * 1024;
/** How long Goodbye and what was sent before it may take to leave. */
const closingMs = 2_000;

export interface LiveLinkOptions {
  channel: FrameChannel;
  peer: LinkPeer;
  heartbeatIntervalMs: number;
  clock: Clock;
}

type Phase =
  | { kind: 'open' }
  | { kind: 'closing'; outcome: LinkOutcome; cancelDeadline: () => void }
  | { kind: 'closed' };

/** A proven peer at the other end. Invariants L5–L10 of DESIGN.md live here. */
export class LiveLink implements Link {
  readonly peer: LinkPeer;
  readonly #channel: FrameChannel;
  readonly #clock: Clock;
  readonly #queue: SendQueue;
  readonly #heartbeat: Heartbeat;
  readonly #incoming: IncomingMessages;
  #phase: Phase = { kind: 'open' };
  #handlers: LinkHandlers | undefined;
  #flushDue = false;
  #drainAwaited = false;

  constructor(options: LiveLinkOptions) {
    this.peer = options.peer;
    this.#channel = options.channel;
    this.#clock = options.clock;
    this.#queue = new SendQueue(options.channel.transport);
    this.#heartbeat = new Heartbeat(options.clock, saneIntervalMs(options.heartbeatIntervalMs), {
      ping: (id) => {
        this.#queue.trim();
        this.send({ case: 'ping', value: create(PingSchema, { id }) });
      },
      silent: (silentMs) => this.#end({ kind: 'silent', silentMs }),
    });
    this.#incoming = new IncomingMessages({
      send: (message) => this.send(message),
      pong: (id) => this.#heartbeat.pong(id),
      deliver: (message) => this.#handlers?.onMessage(message),
      ended: (outcome) => this.#onEnded(outcome),
      refuse: (code, reason) => this.#refuse(code, reason),
    });
  }

  get roundTripUs(): number | undefined {
    return this.#heartbeat.roundTripUs;
  }

  get unsentBytes(): number {
    return this.#queue.dataBytes;
  }

  get unsentControlBytes(): number {
    return this.#queue.controlBacklogBytes;
  }

  /** From here on the handlers are called; frames that came with the Welcome follow at once. */
  open(handlers: LinkHandlers): void {
    this.#handlers = handlers;
    if (this.#phase.kind === 'closed') return;
    this.#channel.handOver(
      {
        onFrame: (body) => this.#onFrame(body),
        onViolation: (violation) => this.#onViolation(violation),
        onDrain: () => this.#onDrain(),
        onClosed: (reason) => this.#onTransportClosed(reason),
      },
      maxFrameBytes,
    );
    this.#heartbeat.start();
  }

  send(message: LinkMessage, lane: Lane = laneOf(message)): void {
    if (this.#phase.kind !== 'open') return;
    this.#append(message, lane);
  }

  close(reason: string, reconnectAfterMs = 0): void {
    if (this.#phase.kind !== 'open') return;
    this.#append({ case: 'goodbye', value: create(GoodbyeSchema, { reason, reconnectAfterMs }) }, 'data');
    this.#startClosing({ kind: 'closed-here', reason });
  }

  destroy(reason: string): void {
    this.#end({ kind: 'closed-here', reason });
  }

  /** Asks the peer for a sign of life; without one within `deadlineMs` the link ends as silent. */
  probe(deadlineMs: number): void {
    if (this.#phase.kind === 'open') this.#heartbeat.probe(deadlineMs);
  }

  #append(message: LinkMessage, lane: Lane): void {
    this.#queue.append(message, lane);
    if (lane === 'data' && this.#queue.dataBytes > drainMarkBytes) this.#drainAwaited = true;
    if (this.#flushDue) return;
    this.#flushDue = true;
    this.#clock.atTurnEnd(this.#flush);
  }

  readonly #flush = (): void => {
    this.#flushDue = false;
    if (this.#phase.kind === 'closed') return;
    this.#queue.flush();
    if (this.#queue.controlBacklogBytes > controlBacklogLimitBytes) {
      this.#end({ kind: 'lost', reason: 'the peer does not read' });
    } else if (this.#queue.dataBytes === 0) this.#onFlushed();
  };

  #onFlushed(): void {
    if (this.#phase.kind === 'closing') this.#channel.transport.end();
    else if (this.#drainAwaited) {
      this.#drainAwaited = false;
      this.#guarded(() => this.#handlers?.onDrain?.());
    }
  }

  #onDrain(): void {
    this.#queue.unblock();
    this.#flush();
  }

  #onFrame(body: Uint8Array): void {
    this.#heartbeat.heard();
    if (this.#phase.kind !== 'open') return;
    try {
      this.#incoming.take(body);
    } catch (cause) {
      this.#onThrown(cause);
    }
  }

  /** L10. */
  #guarded(call: () => void): void {
    try {
      call();
    } catch (cause) {
      this.#onThrown(cause);
    }
  }

  /** The peer closes when this has arrived; what waits here may still leave. */
  #onEnded(outcome: LinkOutcome): void {
    this.#queue.flush();
    this.#end(outcome, 'gently');
  }

  #onViolation(violation: FrameViolation): void {
    const { code, reason } = describeViolation(violation);
    this.#refuse(code, reason);
  }

  /** L9, L10: bad bytes and our own bugs end this link and no other. */
  #onThrown(cause: unknown): void {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'internal';
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.#refuse(code, reason, cause);
  }

  #refuse(code: string, reason: string, cause?: unknown): void {
    if (this.#phase.kind !== 'open') return;
    const message = cause === undefined || code === 'wire.malformed' ? reason : 'internal error';
    this.#append(
      { case: 'protocolError', value: create(ProtocolErrorSchema, { code, message, fatal: true }) },
      'control',
    );
    this.#queue.flush();
    const outcome: LinkOutcome = { kind: 'protocol-error', code, reason };
    this.#end(cause === undefined ? outcome : { ...outcome, cause }, 'gently');
  }

  #startClosing(outcome: LinkOutcome): void {
    this.#heartbeat.stop();
    const cancelDeadline = this.#clock.after(closingMs, () => this.#end(outcome));
    this.#phase = { kind: 'closing', outcome, cancelDeadline };
  }

  #onTransportClosed(reason: string): void {
    this.#end(this.#phase.kind === 'closing' ? this.#phase.outcome : { kind: 'lost', reason });
  }

  /** `gently`: what was written may still leave, for at most `closingMs`. */
  #end(outcome: LinkOutcome, how: 'at once' | 'gently' = 'at once'): void {
    if (this.#phase.kind === 'closed') return;
    if (this.#phase.kind === 'closing') this.#phase.cancelDeadline();
    this.#phase = { kind: 'closed' };
    this.#heartbeat.stop();
    const { transport } = this.#channel;
    if (how === 'at once') {
      this.#channel.release();
      transport.destroy();
    } else this.#channel.endWithin(closingMs, this.#clock);
    this.#handlers?.onClosed(outcome);
  }
}

/** The interval comes from the peer: neither a busy loop nor never. */
function saneIntervalMs(intervalMs: number): number {
  return intervalMs === 0 ? 10_000 : Math.min(Math.max(intervalMs, 10), 10 * 60_000);
}
