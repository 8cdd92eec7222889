export type { Identity, LinkCrypto } from './identity.ts';
export type {
  Admission,
  Lane,
  Link,
  LinkHandlers,
  LinkMessage,
  LinkOutcome,
  LinkPeer,
  ProvenPeer,
} from './link.ts';
export type { Dial, Transport, TransportHandlers, TransportPeer } from './transport.ts';
