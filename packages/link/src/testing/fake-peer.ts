import {
  create,
  decodeMessage,
  encodeFrame,
  FrameDecoder,
  type Hello,
  ProofSchema,
  type Welcome,
  type WireMessage,
} from '@iop/wire';
import { DialerHandshake, type HelloInfo } from '../handshake/dialer-handshake.ts';
import type { Identity, LinkCrypto } from '../identity.ts';
import { nodeCrypto } from '../tcp/identity.ts';
import type { Transport } from '../transport.ts';

export interface FakePeerOptions {
  identity: Identity;
  hello: HelloInfo;
  pins: readonly string[];
  token?: string;
  /** Default: the real one. */
  crypto?: LinkCrypto;
}

/**
 * A peer that speaks the protocol by hand over any transport, so that it can also speak it wrongly: stop anywhere, cut
 * frames, send what it likes twice or in another order.
 */
export class FakePeer {
  readonly transport: Transport;
  /** Every message that came and was not taken by `next`. */
  readonly received: WireMessage[] = [];
  /** Why the transport closed, once it has. */
  readonly closed: Promise<string>;
  closeReason: string | undefined;
  #handshake: DialerHandshake;
  readonly #options: FakePeerOptions;
  #waiting: (() => void)[] = [];
  /** Bodies of the frames that came, for steps of the handshake. */
  readonly #bodies = new WeakMap<WireMessage, Uint8Array>();

  constructor(transport: Transport, options: FakePeerOptions) {
    this.transport = transport;
    this.#options = options;
    this.#handshake = this.#newHandshake(options.hello);
    const decoder = new FrameDecoder();
    this.closed = new Promise((resolve) => {
      transport.start({
        onBytes: (bytes) => void decoder.push(bytes, (body) => this.#onFrame(body)),
        onDrain: () => {},
        onClosed: (reason) => {
          this.closeReason = reason;
          this.#wake();
          resolve(reason);
        },
      });
    });
  }

  send(...messages: WireMessage[]): void {
    for (const message of messages) this.transport.write([encodeFrame(message)]);
  }

  sendBytes(bytes: Uint8Array): void {
    this.transport.write([bytes]);
  }

  /** A frame of any body, or of a lie about its length. */
  sendFrame(body: Uint8Array, claimedBytes = body.length): void {
    const frame = Buffer.alloc(4 + body.length);
    frame.writeUInt32BE(claimedBytes);
    frame.set(body, 4);
    this.sendBytes(frame);
  }

  /** The Hello, changed as wanted. */
  hello(change: Partial<Hello> = {}): WireMessage {
    this.#handshake = this.#newHandshake(this.#options.hello);
    const message = this.#handshake.begin();
    if (message.case === 'hello') Object.assign(message.value, change);
    return message;
  }

  /** Hello and Proof; resolves with Welcome or Reject. */
  async greet(): Promise<WireMessage> {
    this.send(this.hello());
    this.send(await this.prove(await this.next('challenge')));
    return this.nextOf(['welcome', 'reject']);
  }

  async enter(): Promise<Welcome> {
    const answer = await this.greet();
    if (answer.case !== 'welcome') throw new Error(`not welcome: ${JSON.stringify(answer.value)}`);
    return answer.value;
  }

  async prove(challenge: WireMessage): Promise<WireMessage> {
    const step = this.#handshake.receive(this.#bodies.get(challenge) as Uint8Array);
    if (step.kind !== 'send') throw new Error(`no proof: ${JSON.stringify(step)}`);
    return step.message;
  }

  /** A Proof that proves nothing. */
  forgedProof(token = ''): WireMessage {
    return { case: 'proof', value: create(ProofSchema, { signature: new Uint8Array(64).fill(1), token }) };
  }

  next<C extends WireMessage['case']>(wanted: C): Promise<WireMessage & { case: C }> {
    return this.nextOf([wanted]) as Promise<WireMessage & { case: C }>;
  }

  /** The next message of one of these kinds; what comes before stays in `received`. */
  async nextOf(wanted: readonly WireMessage['case'][]): Promise<WireMessage> {
    for (;;) {
      const at = this.received.findIndex((message) => wanted.includes(message.case));
      const [found] = at < 0 ? [] : this.received.splice(at, 1);
      if (found !== undefined) return found;
      if (this.closeReason !== undefined)
        throw new Error(`closed (${this.closeReason}) while waiting for ${wanted}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #newHandshake(hello: HelloInfo): DialerHandshake {
    const { identity, pins, token = '', crypto = nodeCrypto } = this.#options;
    const { transport } = this;
    return new DialerHandshake({ identity, pins, hello, token: () => token, crypto, transport });
  }

  #onFrame(body: Uint8Array): void {
    const message = decodeMessage(body);
    if (message.case === undefined) return;
    this.#bodies.set(message, body);
    this.received.push(message);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
