import type { Clock } from '@iop/domain';
import type { Identity, LinkCrypto } from './identity.ts';
import { IncomingHandshake, type Rejection } from './incoming-handshake.ts';
import type { Admission, Link, LinkHandlers, ProvenPeer } from './link.ts';
import { LinkTable } from './link-table.ts';
import type { LiveLink } from './live-link.ts';
import type { Transport } from './transport.ts';

export interface AcceptorLimits {
  /** From the first byte to the Proof, admission included. */
  handshakeTimeoutMs: number;
  /** Handshakes at once. */
  handshakes: number;
  /** When all places are taken, a handshake older than this makes room. */
  handshakeGraceMs: number;
}

export const defaultAcceptorLimits: AcceptorLimits = {
  handshakeTimeoutMs: 10_000,
  handshakes: 128,
  handshakeGraceMs: 1_000,
};

export interface AcceptorOptions {
  identity: Identity;
  /** Of this side, for people. */
  name: string;
  /** 16 random bytes, one per process. */
  serverInstance: Uint8Array;
  crypto: LinkCrypto;
  clock: Clock;
  /**
   * Decides about a peer whose signature was verified; must store the epoch before it says `welcome`.
   * The acceptor itself fences an older link of the same instance and refuses a clone (L11).
   */
  admit(peer: ProvenPeer): Promise<Admission>;
  /** The link is live; what is sent from here follows the Welcome. */
  onLink(link: Link, peer: ProvenPeer): LinkHandlers;
  /** A peer that did not become a link, with the reason: for logs and counters. */
  onRejected?(rejection: Rejection): void;
  limits?: Partial<AcceptorLimits>;
}

export interface Acceptor {
  /** Takes a transport from its first byte on. */
  accept(transport: Transport): void;
  /** Every live link, operators included. */
  links(): readonly Link[];
  /** Takes nobody any more; says Goodbye to all, each with its own random delay up to `spreadMs`. */
  close(reason: string, spreadMs: number): void;
}

/** Turns transports into live links: the server's half of DESIGN.md. */
export function createAcceptor(options: AcceptorOptions): Acceptor {
  const limits = { ...defaultAcceptorLimits, ...options.limits };
  const table = new LinkTable();
  const handshakes = new Set<IncomingHandshake>();
  let closed = false;

  function accept(transport: Transport): void {
    if (closed || !makeRoom()) {
      transport.destroy();
      const message = closed ? 'this side is closing' : `${limits.handshakes} handshakes are under way`;
      options.onRejected?.({ code: 'link.busy', message, transport: transport.peer });
      return;
    }
    const handshake = new IncomingHandshake({
      ...options,
      limits,
      transport,
      table,
      onEntered: enter,
      onDone: () => handshakes.delete(handshake),
    });
    handshakes.add(handshake);
    handshake.start();
  }

  /** L3: the oldest that had its time goes; a set keeps the order of arrival. */
  function makeRoom(): boolean {
    if (handshakes.size < limits.handshakes) return true;
    const [oldest] = handshakes;
    if (oldest === undefined || oldest.ageMs < limits.handshakeGraceMs) return false;
    oldest.fail('link.busy', 'made room for others: the handshake took too long');
    return true;
  }

  function enter(link: LiveLink, peer: ProvenPeer): void {
    const handlers = options.onLink(link, peer);
    table.add(link);
    link.open({
      onMessage: (message) => handlers.onMessage(message),
      onDrain: () => handlers.onDrain?.(),
      onClosed: (outcome) => {
        table.remove(link);
        handlers.onClosed(outcome);
      },
    });
  }

  function close(reason: string, spreadMs: number): void {
    closed = true;
    for (const handshake of new Set(handshakes)) handshake.fail('link.closing', reason);
    for (const link of table) link.close(reason, Math.round(fraction(options.crypto) * spreadMs));
  }

  return { accept, close, links: () => [...table] };
}

/** Uniform in [0, 1). */
function fraction(crypto: LinkCrypto): number {
  const bytes = crypto.randomBytes(4);
  return bytes.reduce((value, byte) => value * 256 + byte, 0) / 2 ** 32;
}
