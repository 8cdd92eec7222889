/** The bytes that are signed (DESIGN.md, last section). L2: good for one handshake only. */
const encoder = new TextEncoder();
const serverPrefix = encoder.encode('iop/1 server');
const peerPrefix = encoder.encode('iop/1');

export function challengeTranscript(
  helloHash: Uint8Array,
  serverNonce: Uint8Array,
  binding: Uint8Array,
): Uint8Array {
  return join([serverPrefix, helloHash, serverNonce, binding]);
}

export interface ProofFacts {
  role: number;
  helloHash: Uint8Array;
  challengeHash: Uint8Array;
  binding: Uint8Array;
}

export function proofTranscript(facts: ProofFacts): Uint8Array {
  return join([peerPrefix, Uint8Array.of(facts.role), facts.helloHash, facts.challengeHash, facts.binding]);
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
