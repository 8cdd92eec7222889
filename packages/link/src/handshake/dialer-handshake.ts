import {
  agreeVersion,
  type Challenge,
  create,
  decodeMessage,
  encodeMessage,
  type Hello,
  HelloSchema,
  ProofSchema,
  protocolVersion,
  type ReadMessage,
  ResumeStateSchema,
  type Role,
  type Welcome,
  type WireMessage,
} from '@iop/wire';
import type { Identity, LinkCrypto } from '../identity.ts';
import type { Transport } from '../transport.ts';
import { challengeTranscript, proofTranscript } from './transcript.ts';

/** What a dialer says of itself; asked anew at every attempt. */
export interface HelloInfo {
  role: Role;
  /** The name under which this identity is registered. */
  name: string;
  /** 16 random bytes, made once per process. */
  instance: Uint8Array;
  /** Epoch of the last link, 0 if none is known. */
  lastEpoch: number;
  /** Program and version, for people. */
  build: string;
  labels?: Readonly<Record<string, string>>;
  openRuns?: number;
  configRevision?: number;
}

export interface DialerHandshakeOptions {
  hello: HelloInfo;
  identity: Identity;
  /** `sha256:…` of every server key that is trusted: current and next. */
  pins: readonly string[];
  /** Read only after the pin was compared (L1); empty: none is sent. */
  token(): string;
  crypto: LinkCrypto;
  transport: Pick<Transport, 'channelBinding' | 'peer'>;
}

export type DialerStep =
  | { kind: 'send'; message: WireMessage }
  | { kind: 'welcomed'; welcome: Welcome; server: ServerFacts }
  | { kind: 'rejected'; code: string; message: string; retryAfterMs: number }
  | { kind: 'failed'; code: string; reason: string };

/** What the Challenge said of the accepting side. */
export interface ServerFacts {
  /** For people. */
  name: string;
  pin: string;
}

type DialerState = { kind: 'greeting' } | { kind: 'proving'; server: ServerFacts } | { kind: 'done' };

/** Pure: bodies of frames in, steps out. */
export class DialerHandshake {
  readonly #options: DialerHandshakeOptions;
  #state: DialerState = { kind: 'greeting' };
  #helloHash = new Uint8Array();

  constructor(options: DialerHandshakeOptions) {
    this.#options = options;
  }

  /** The first message. */
  begin(): WireMessage {
    const { hello, identity, crypto } = this.#options;
    const message: WireMessage = { case: 'hello', value: toHello(hello, identity, crypto) };
    this.#helloHash = new Uint8Array(crypto.sha256(encodeMessage(message)));
    return message;
  }

  receive(body: Uint8Array): DialerStep {
    const step = this.#receive(body);
    if (step.kind !== 'send') this.#state = { kind: 'done' };
    return step;
  }

  #receive(body: Uint8Array): DialerStep {
    let message: ReadMessage;
    try {
      message = decodeMessage(body);
    } catch {
      return {
        kind: 'failed',
        code: 'wire.malformed',
        reason: 'the peer does not speak the IOP Wire Protocol',
      };
    }
    if (message.case === 'reject') {
      const { code, message: text, retryAfterMs } = message.value;
      return { kind: 'rejected', code, message: text, retryAfterMs };
    }
    if (this.#state.kind === 'greeting' && message.case === 'challenge')
      return this.#prove(message.value, body);
    if (this.#state.kind === 'proving' && message.case === 'welcome') {
      return this.#enter(message.value, this.#state.server);
    }
    const got = message.case ?? 'an unknown message';
    return {
      kind: 'failed',
      code: 'protocol.unexpected-message',
      reason: `${got} while ${this.#state.kind}`,
    };
  }

  #prove(challenge: Challenge, body: Uint8Array): DialerStep {
    const { crypto, transport, hello, identity, token } = this.#options;
    const refusal = this.#distrust(challenge);
    if (refusal !== undefined) return refusal;
    const pin = crypto.pinOf(challenge.serverKey);
    this.#state = { kind: 'proving', server: { name: challenge.serverIdentity, pin } };
    const signature = identity.sign(
      proofTranscript({
        role: hello.role,
        helloHash: this.#helloHash,
        challengeHash: crypto.sha256(body),
        binding: transport.channelBinding,
      }),
    );
    return {
      kind: 'send',
      message: { case: 'proof', value: create(ProofSchema, { signature, token: token() }) },
    };
  }

  /** L1. */
  #distrust(challenge: Challenge): DialerStep | undefined {
    const { crypto, pins, transport } = this.#options;
    const { serverKey, serverNonce, signature, serverIdentity } = challenge;
    if (serverKey.length !== 32 || serverNonce.length !== 32) {
      return {
        kind: 'failed',
        code: 'wire.malformed',
        reason: 'a challenge whose key or nonce is not 32 bytes',
      };
    }
    const pin = crypto.pinOf(serverKey);
    if (!(pins.includes(pin) || (pins.length === 0 && transport.peer.kind === 'unix'))) {
      const reason = `${serverIdentity || 'the server'} at ${transport.peer.address} has the key ${pin}, pinned is ${pins.join(' or ') || 'none'}`;
      return { kind: 'failed', code: 'identity.pin-mismatch', reason };
    }
    const signed = challengeTranscript(this.#helloHash, serverNonce, transport.channelBinding);
    if (crypto.verify(serverKey, signed, signature)) return undefined;
    return {
      kind: 'failed',
      code: 'identity.bad-signature',
      reason: 'the server did not prove that it holds its key',
    };
  }

  #enter(welcome: Welcome, server: ServerFacts): DialerStep {
    if (agreeVersion(welcome.protocolVersion) === welcome.protocolVersion) {
      return { kind: 'welcomed', welcome, server };
    }
    const reason = `the server wants protocol version ${welcome.protocolVersion}, spoken here is ${protocolVersion}`;
    return { kind: 'failed', code: 'protocol.version', reason };
  }
}

function toHello(info: HelloInfo, identity: Identity, crypto: LinkCrypto): Hello {
  return create(HelloSchema, {
    protocolVersion,
    role: info.role,
    identity: info.name,
    publicKey: identity.publicKey,
    clientNonce: crypto.randomBytes(32),
    instance: info.instance,
    lastEpoch: info.lastEpoch,
    build: info.build,
    labels: { ...info.labels },
    resume: create(ResumeStateSchema, {
      openRuns: info.openRuns ?? 0,
      configRevision: info.configRevision ?? 0,
    }),
  });
}
