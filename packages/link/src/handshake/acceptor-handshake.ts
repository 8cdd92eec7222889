import { isName } from '@iop/domain';
import {
  agreeVersion,
  ChallengeSchema,
  create,
  decodeMessage,
  encodeMessage,
  type Hello,
  type Proof,
  protocolFloor,
  protocolVersion,
  type ReadMessage,
  Role,
  type WireMessage,
} from '@iop/wire';
import type { Identity, LinkCrypto } from '../identity.ts';
import type { ProvenPeer } from '../link.ts';
import type { Transport } from '../transport.ts';
import { challengeTranscript, proofTranscript } from './transcript.ts';

export interface AcceptorHandshakeOptions {
  identity: Identity;
  /** Of this side, for people. */
  name: string;
  crypto: LinkCrypto;
  transport: Pick<Transport, 'channelBinding' | 'peer'>;
}

export type AcceptorStep =
  | { kind: 'send'; message: WireMessage }
  | { kind: 'proven'; peer: ProvenPeer; protocolVersion: number }
  | { kind: 'refused'; code: string; message: string };

type AcceptorState =
  | { kind: 'awaiting-hello' }
  | {
      kind: 'awaiting-proof';
      hello: Hello;
      helloHash: Uint8Array;
      challengeHash: Uint8Array;
      version: number;
    }
  | { kind: 'admitting' };

/** Pure: bodies of frames in, steps out. What follows `proven` is the owner's decision. */
export class AcceptorHandshake {
  readonly #options: AcceptorHandshakeOptions;
  #state: AcceptorState = { kind: 'awaiting-hello' };

  constructor(options: AcceptorHandshakeOptions) {
    this.#options = options;
  }

  /** Known as soon as a Hello came; nothing in it is proven before the step `proven`. */
  get claimed(): Hello | undefined {
    return this.#state.kind === 'awaiting-proof' ? this.#state.hello : undefined;
  }

  get waitsForHello(): boolean {
    return this.#state.kind === 'awaiting-hello';
  }

  receive(body: Uint8Array): AcceptorStep {
    let message: ReadMessage;
    try {
      message = decodeMessage(body);
    } catch {
      return refuse('wire.malformed', 'this is no message of the IOP Wire Protocol');
    }
    if (this.#state.kind === 'awaiting-hello' && message.case === 'hello') {
      return this.#challenge(message.value, body);
    }
    if (this.#state.kind === 'awaiting-proof' && message.case === 'proof') {
      return this.#check(message.value, this.#state);
    }
    return refuse(
      'protocol.unexpected-message',
      `${message.case ?? 'an unknown message'} while ${this.#state.kind}`,
    );
  }

  #challenge(hello: Hello, body: Uint8Array): AcceptorStep {
    const version = agreeVersion(hello.protocolVersion);
    if (version === undefined) return refuseVersion(hello.protocolVersion);
    const problem = helloProblem(hello);
    if (problem !== undefined) return refuse('protocol.bad-hello', problem);
    const { crypto, identity, name, transport } = this.#options;
    const helloHash = crypto.sha256(body);
    const serverNonce = crypto.randomBytes(32);
    const message: WireMessage = {
      case: 'challenge',
      value: create(ChallengeSchema, {
        serverNonce,
        serverKey: identity.publicKey,
        signature: identity.sign(challengeTranscript(helloHash, serverNonce, transport.channelBinding)),
        serverIdentity: name,
      }),
    };
    const challengeHash = crypto.sha256(encodeMessage(message));
    this.#state = { kind: 'awaiting-proof', hello, helloHash, challengeHash, version };
    return { kind: 'send', message };
  }

  #check(proof: Proof, state: AcceptorState & { kind: 'awaiting-proof' }): AcceptorStep {
    const { crypto, transport } = this.#options;
    const { hello, helloHash, challengeHash, version } = state;
    const binding = transport.channelBinding;
    const signed = proofTranscript({ role: hello.role, helloHash, challengeHash, binding });
    this.#state = { kind: 'admitting' };
    if (!crypto.verify(hello.publicKey, signed, proof.signature)) {
      return refuse('identity.bad-signature', `${hello.identity} did not prove that it holds its key`);
    }
    const peer: ProvenPeer = { hello, token: proof.token, transport: transport.peer };
    return { kind: 'proven', peer, protocolVersion: version };
  }
}

function helloProblem(hello: Hello): string | undefined {
  if (!knownRoles.includes(hello.role)) return `role ${hello.role} is unknown`;
  if (!isName(hello.identity))
    return 'identity must be a name: lower-case letters, digits, ".", "_", "-", at most 63';
  if (hello.publicKey.length !== 32) return `public key of ${hello.publicKey.length} bytes, expected 32`;
  if (hello.clientNonce.length !== 32) return `nonce of ${hello.clientNonce.length} bytes, expected 32`;
  if (hello.instance.length !== 16) return `instance of ${hello.instance.length} bytes, expected 16`;
  return undefined;
}

const knownRoles: readonly number[] = [Role.NODE, Role.AGENT, Role.EDGE, Role.OPERATOR];

function refuse(code: string, message: string): AcceptorStep {
  return { kind: 'refused', code, message };
}

function refuseVersion(version: number): AcceptorStep {
  const spoken =
    protocolFloor === protocolVersion ? `${protocolVersion}` : `${protocolFloor} to ${protocolVersion}`;
  return refuse(
    'protocol.version',
    `protocol version ${version} is not spoken here, only ${spoken}; update the older side`,
  );
}
