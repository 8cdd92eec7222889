import { Role } from '@iop/wire';
import type { LinkPeer } from './link.ts';
import type { LiveLink } from './live-link.ts';

/** How long the first of two instances may take to show that it lives. */
export const cloneProbeMs = 2_000;

export type EntryVerdict =
  | { kind: 'enter' }
  | { kind: 'refuse'; code: string; message: string; retryAfterMs: number };

/**
 * L11: which links live here, at most one for a role and a name. Operators are many and not exclusive.
 * The decision and the entry happen in one synchronous step, so two handshakes cannot both win.
 */
export class LinkTable {
  readonly #links = new Set<LiveLink>();
  readonly #exclusive = new Map<string, LiveLink>();

  [Symbol.iterator](): Iterator<LiveLink> {
    return new Set(this.#links).values();
  }

  get size(): number {
    return this.#links.size;
  }

  /** Whether `peer` may go live now; an older link of the same instance is destroyed on the way. */
  judge(peer: LinkPeer): EntryVerdict {
    const older = this.#exclusive.get(keyOf(peer));
    if (older === undefined) return { kind: 'enter' };
    if (older.peer.instance !== peer.instance) {
      older.probe(cloneProbeMs);
      return refuseClone(older.peer, peer);
    }
    if (older.peer.epoch >= peer.epoch) {
      const message = `epoch ${peer.epoch} of ${peer.name} came after epoch ${older.peer.epoch} was live`;
      return { kind: 'refuse', code: 'identity.fenced', message, retryAfterMs: 0 };
    }
    older.destroy(`fenced: ${peer.name} came back with epoch ${peer.epoch}`);
    return { kind: 'enter' };
  }

  add(link: LiveLink): void {
    this.#links.add(link);
    if (isExclusive(link.peer)) this.#exclusive.set(keyOf(link.peer), link);
  }

  remove(link: LiveLink): void {
    this.#links.delete(link);
    const key = keyOf(link.peer);
    if (this.#exclusive.get(key) === link) this.#exclusive.delete(key);
  }
}

function isExclusive(peer: LinkPeer): boolean {
  return peer.role !== Role.OPERATOR;
}

function keyOf(peer: LinkPeer): string {
  return `${peer.role}/${peer.name}`;
}

function refuseClone(first: LinkPeer, second: LinkPeer): EntryVerdict {
  const message =
    `${second.name} is already linked from ${first.transport.address} by another process ` +
    `(instance ${first.instance.slice(0, 8)}, here ${second.instance.slice(0, 8)}); ` +
    'two machines must not share one identity: give one of them another name and key';
  return { kind: 'refuse', code: 'identity.clone', message, retryAfterMs: cloneProbeMs };
}
