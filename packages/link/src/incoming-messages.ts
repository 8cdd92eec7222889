import { create, decodeMessage, PongSchema, ProtocolErrorSchema } from '@iop/wire';
import type { LinkMessage, LinkOutcome } from './link.ts';

const unknownMessagesLimit = 100;

/** What a live link does about what comes. */
export interface IncomingEffects {
  send(message: LinkMessage): void;
  pong(id: number): void;
  /** For the owner of the link. */
  deliver(message: LinkMessage): void;
  /** The peer ended the link, in order or because of us. */
  ended(outcome: LinkOutcome): void;
  /** The peer broke the protocol. */
  refuse(code: string, reason: string): void;
}

/** Sorts the messages of a live link: life is answered here, the rest is the owner's (L9). */
export class IncomingMessages {
  readonly #effects: IncomingEffects;
  #unknown = 0;

  constructor(effects: IncomingEffects) {
    this.#effects = effects;
  }

  /** @throws IopError `wire.malformed` */
  take(body: Uint8Array): void {
    const message = decodeMessage(body);
    switch (message.case) {
      case 'ping':
        this.#effects.send({ case: 'pong', value: create(PongSchema, { id: message.value.id }) });
        break;
      case 'pong':
        this.#effects.pong(message.value.id);
        break;
      case 'goodbye':
        this.#onGoodbye(message);
        break;
      case 'protocolError':
        this.#onProtocolError(message);
        break;
      case undefined:
        this.#onUnknown();
        break;
      case 'hello':
      case 'challenge':
      case 'proof':
      case 'welcome':
      case 'reject':
        this.#effects.refuse('protocol.unexpected-message', `${message.case} on a live link`);
        break;
      default:
        this.#effects.deliver(message);
    }
  }

  #onGoodbye({ value }: LinkMessage & { case: 'goodbye' }): void {
    const { reason, reconnectAfterMs } = value;
    this.#effects.ended({ kind: 'goodbye', reason, reconnectAfterMs });
  }

  /** One that is not fatal is for the owner: it sent something that the peer does not know. */
  #onProtocolError(message: LinkMessage & { case: 'protocolError' }): void {
    const { code, message: reason, fatal } = message.value;
    if (fatal) this.#effects.ended({ kind: 'protocol-error', code, reason });
    else this.#effects.deliver(message);
  }

  #onUnknown(): void {
    const code = 'protocol.unknown-message';
    if (++this.#unknown > unknownMessagesLimit) {
      this.#effects.refuse(code, `more than ${unknownMessagesLimit} unknown messages`);
      return;
    }
    const message = 'this message is unknown here; one side is older than the other';
    const value = create(ProtocolErrorSchema, { code, message, fatal: false });
    this.#effects.send({ case: 'protocolError', value });
  }
}
