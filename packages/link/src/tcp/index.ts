export { type DialTcpOptions, dialTcp } from './dial-tcp.ts';
export { dialUnix } from './dial-unix.ts';
export { createIdentityPem, loadIdentity, nodeCrypto } from './identity.ts';
export { type ListenTcpOptions, listenTcp } from './listen-tcp.ts';
export { listenUnix } from './listen-unix.ts';
export type { Listener, OnTransport } from './listener.ts';
export { isLoopback } from './loopback.ts';
