import type { Clock } from '@iop/domain';
import { create, RejectSchema, WelcomeSchema } from '@iop/wire';
import type { AcceptorLimits, AcceptorOptions } from './acceptor.ts';
import { describeViolation, FrameChannel } from './frame-channel.ts';
import { AcceptorHandshake } from './handshake/acceptor-handshake.ts';
import type { Admission, LinkPeer, ProvenPeer } from './link.ts';
import type { LinkTable } from './link-table.ts';
import { LiveLink } from './live-link.ts';
import type { Transport, TransportPeer } from './transport.ts';

/** Largest frame during a handshake, both ways. */
export const handshakeFrameBytes = 16 * 1024;
/** How long a Reject may take to leave. */
const rejectLingerMs = 1_000;

/** A peer that did not become a link. What `name` and `instance` say is claimed, not proven. */
export interface Rejection {
  code: string;
  message: string;
  transport: TransportPeer;
  name?: string;
  instance?: string;
  cause?: unknown;
}

export interface IncomingHandshakeOptions extends Omit<AcceptorOptions, 'limits' | 'onLink'> {
  limits: AcceptorLimits;
  transport: Transport;
  table: LinkTable;
  onEntered(link: LiveLink, peer: ProvenPeer): void;
  /** The place is free again; exactly once. */
  onDone(): void;
}

/** One handshake on the accepting side: I/O and time around `AcceptorHandshake`. */
export class IncomingHandshake {
  readonly #options: IncomingHandshakeOptions;
  readonly #channel: FrameChannel;
  readonly #handshake: AcceptorHandshake;
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  #cancelTimeout: (() => void) | undefined;
  #done = false;
  #peer: ProvenPeer | undefined;

  constructor(options: IncomingHandshakeOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#startedAtMs = options.clock.now();
    this.#channel = new FrameChannel(options.transport, handshakeFrameBytes);
    this.#handshake = new AcceptorHandshake(options);
  }

  get ageMs(): number {
    return this.#clock.now() - this.#startedAtMs;
  }

  start(): void {
    const { handshakeTimeoutMs } = this.#options.limits;
    this.#cancelTimeout = this.#clock.after(handshakeTimeoutMs, () =>
      this.fail('link.handshake-timeout', `no link after ${handshakeTimeoutMs} ms`),
    );
    this.#channel.start({
      onFrame: (body) => this.#onFrame(body),
      onViolation: (violation) => {
        const { code, reason } = describeViolation(violation);
        this.fail(code, reason);
      },
      onDrain: () => {},
      onClosed: (reason) => this.#finish('link.lost', reason),
    });
  }

  /** Ends it with a Reject, which gets a second to leave. */
  fail(code: string, message: string, more: { retryAfterMs?: number; cause?: unknown } = {}): void {
    if (this.#done) return;
    const retryAfterMs = more.retryAfterMs ?? 0;
    const told = more.cause === undefined ? message : 'internal error; see the log of the other side';
    this.#channel.write({
      case: 'reject',
      value: create(RejectSchema, { code, message: told, retryAfterMs }),
    });
    this.#finish(code, message, more.cause);
    this.#channel.endWithin(rejectLingerMs, this.#clock);
  }

  #onFrame(body: Uint8Array): void {
    if (this.#done) return;
    const step = this.#handshake.receive(body);
    if (step.kind === 'send') this.#channel.write(step.message);
    else if (step.kind === 'refused') this.fail(step.code, step.message);
    else {
      this.#peer = step.peer;
      void this.#admit(step.peer, step.protocolVersion);
    }
  }

  async #admit(peer: ProvenPeer, protocolVersion: number): Promise<void> {
    try {
      const admission = await this.#options.admit(peer);
      if (this.#done) return;
      if (admission.kind === 'welcome') this.#welcome(peer, admission, protocolVersion);
      else this.fail(admission.code, admission.message, { retryAfterMs: admission.retryAfterMs });
    } catch (cause) {
      const message = `admitting ${peer.hello.identity} failed: ${cause instanceof Error ? cause.message : cause}`;
      this.fail('link.internal', message, { cause });
    }
  }

  #welcome(peer: ProvenPeer, admission: Admission & { kind: 'welcome' }, protocolVersion: number): void {
    const { table, serverInstance, clock, onEntered } = this.#options;
    const linkPeer = toLinkPeer(peer, admission.epoch);
    const verdict = table.judge(linkPeer);
    if (verdict.kind === 'refuse') {
      this.fail(verdict.code, verdict.message, verdict);
      return;
    }
    const { epoch, heartbeatIntervalMs, fleetSize } = admission;
    this.#channel.write({
      case: 'welcome',
      value: create(WelcomeSchema, {
        protocolVersion,
        epoch,
        heartbeatIntervalMs,
        fleetSize,
        serverInstance,
      }),
    });
    this.#done = true;
    this.#cancelTimeout?.();
    this.#options.onDone();
    const link = new LiveLink({ channel: this.#channel, peer: linkPeer, heartbeatIntervalMs, clock });
    try {
      onEntered(link, peer);
    } catch (cause) {
      link.destroy('the owner of the link failed');
      this.#report('link.internal', 'onLink threw', cause);
    }
  }

  #finish(code: string, message: string, cause?: unknown): void {
    if (this.#done) return;
    this.#done = true;
    this.#cancelTimeout?.();
    this.#options.onDone();
    this.#report(code, message, cause);
  }

  #report(code: string, message: string, cause?: unknown): void {
    const claimed = this.#peer?.hello ?? this.#handshake.claimed;
    const { peer: transport } = this.#options.transport;
    const who = claimed && { name: claimed.identity, instance: toHex(claimed.instance) };
    this.#options.onRejected?.({
      code,
      message,
      transport,
      ...who,
      ...(cause === undefined ? {} : { cause }),
    });
  }
}

function toLinkPeer({ hello, transport }: ProvenPeer, epoch: number): LinkPeer {
  const { role, identity, build, labels } = hello;
  return { role, name: identity, instance: toHex(hello.instance), epoch, build, labels, transport };
}

export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}
