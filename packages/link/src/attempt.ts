import type { Clock } from '@iop/domain';
import type { Welcome } from '@iop/wire';
import { describeViolation, FrameChannel } from './frame-channel.ts';
import {
  DialerHandshake,
  type DialerStep,
  type HelloInfo,
  type ServerFacts,
} from './handshake/dialer-handshake.ts';
import type { Identity, LinkCrypto } from './identity.ts';
import { handshakeFrameBytes, toHex } from './incoming-handshake.ts';
import type { Link, LinkHandlers, LinkPeer } from './link.ts';
import { LiveLink } from './live-link.ts';
import type { Dial, Transport } from './transport.ts';

/** What every dialing side needs. */
export interface DialOptions {
  dial: Dial;
  /** Asked anew at every attempt. */
  hello(): HelloInfo;
  identity: Identity;
  /** `sha256:…` of the trusted server keys, current and next; empty only over a Unix socket. */
  pins: readonly string[];
  /** Read once, after the pin was compared; empty: none. */
  token(): string;
  crypto: LinkCrypto;
  clock: Clock;
  /** From dialling to Welcome; default 10 s each for the transport and the handshake. */
  handshakeTimeoutMs?: number;
  /** The link is live. Called synchronously, so that nothing that came with the Welcome is missed. */
  onLink(link: Link, welcome: Welcome): LinkHandlers;
}

/** The one outcome of one attempt to link. */
export type AttemptOutcome =
  | { kind: 'linked'; link: Link; welcome: Welcome }
  | { kind: 'rejected'; code: string; message: string; retryAfterMs: number }
  | { kind: 'failed'; code: string; reason: string; cause?: unknown }
  | { kind: 'aborted' };

/** Dials once. Whatever the outcome but `linked`, no socket and no timer is left (L12). */
export async function attemptLink(options: DialOptions, signal: AbortSignal): Promise<AttemptOutcome> {
  let transport: Transport;
  try {
    transport = await options.dial(signal);
  } catch (cause) {
    return signal.aborted ? { kind: 'aborted' } : toFailed(cause);
  }
  if (signal.aborted) {
    transport.destroy();
    return { kind: 'aborted' };
  }
  return new Promise((resolve) => new OutgoingHandshake(options, transport, resolve).start(signal));
}

/** What the owner of the dialing side threw: a token that cannot be read, a bug in its handlers. */
function toFailed(cause: unknown): AttemptOutcome {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'internal';
  return { kind: 'failed', code, reason: cause instanceof Error ? cause.message : String(cause), cause };
}

const defaultTimeoutMs = 10_000;

/** One handshake on the dialing side: I/O and time around `DialerHandshake`. */
class OutgoingHandshake {
  readonly #options: DialOptions;
  readonly #transport: Transport;
  readonly #channel: FrameChannel;
  readonly #hello: HelloInfo;
  readonly #handshake: DialerHandshake;
  readonly #resolve: (outcome: AttemptOutcome) => void;
  #release: () => void = () => {};
  #done = false;

  constructor(options: DialOptions, transport: Transport, resolve: (outcome: AttemptOutcome) => void) {
    this.#options = options;
    this.#transport = transport;
    this.#channel = new FrameChannel(transport, handshakeFrameBytes);
    this.#hello = options.hello();
    this.#handshake = new DialerHandshake({ ...options, hello: this.#hello, transport });
    this.#resolve = resolve;
  }

  start(signal: AbortSignal): void {
    const timeoutMs = this.#options.handshakeTimeoutMs ?? defaultTimeoutMs;
    const cancelTimeout = this.#options.clock.after(timeoutMs, () => {
      const reason = `${this.#transport.peer.address} did not finish the handshake within ${timeoutMs} ms`;
      this.#fail({ kind: 'failed', code: 'link.handshake-timeout', reason });
    });
    const onAbort = (): void => this.#fail({ kind: 'aborted' });
    signal.addEventListener('abort', onAbort, { once: true });
    this.#release = () => {
      cancelTimeout();
      signal.removeEventListener('abort', onAbort);
    };
    this.#channel.start({
      onFrame: (body) => this.#onFrame(body),
      onViolation: (violation) => this.#fail({ kind: 'failed', ...describeViolation(violation) }),
      onDrain: () => {},
      onClosed: (reason) => this.#fail({ kind: 'failed', code: 'link.lost', reason }),
    });
    this.#channel.write(this.#handshake.begin());
  }

  #onFrame(body: Uint8Array): void {
    if (this.#done) return;
    try {
      const step = this.#handshake.receive(body);
      if (step.kind === 'send') this.#channel.write(step.message);
      else if (step.kind === 'welcomed') this.#enter(step);
      else this.#fail(step);
    } catch (cause) {
      this.#fail(toFailed(cause));
    }
  }

  #enter({ welcome, server }: DialerStep & { kind: 'welcomed' }): void {
    this.#settle();
    const { clock, onLink } = this.#options;
    const peer = toPeer(this.#hello, server, welcome, this.#transport);
    const { heartbeatIntervalMs } = welcome;
    const link = new LiveLink({ channel: this.#channel, peer, heartbeatIntervalMs, clock });
    try {
      link.open(onLink(link, welcome));
      this.#resolve({ kind: 'linked', link, welcome });
    } catch (cause) {
      link.destroy('the owner of the link failed');
      this.#resolve(toFailed(cause));
    }
  }

  #fail(outcome: AttemptOutcome): void {
    if (this.#done) return;
    this.#settle();
    this.#channel.release();
    this.#transport.destroy();
    this.#resolve(outcome);
  }

  #settle(): void {
    this.#done = true;
    this.#release();
  }
}

/** What the dialer sees at the other end. */
function toPeer(hello: HelloInfo, server: ServerFacts, welcome: Welcome, transport: Transport): LinkPeer {
  return {
    role: hello.role,
    name: server.name,
    instance: toHex(welcome.serverInstance),
    epoch: welcome.epoch,
    build: '',
    labels: {},
    transport: transport.peer,
  };
}
