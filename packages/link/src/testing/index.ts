export { type ChaosKnobs, type ChaosProxy, type Direction, openChaosProxy } from './chaos-proxy.ts';
export { cheapCrypto, cheapIdentity } from './cheap-crypto.ts';
export type { ContractSubject, ContractWorld } from './contract/contract-world.ts';
export { linkContract } from './contract/link-contract.ts';
export { endEvent, rawEvent, textEvent } from './events.ts';
export { createFakeLink, type FakeLink } from './fake-link.ts';
export { FakePeer, type FakePeerOptions } from './fake-peer.ts';
export {
  createTestAcceptor,
  newIdentity,
  type SeenLink,
  type TestAcceptor,
  type TestDialOptions,
  testDial,
  testHello,
  until,
  watchLink,
} from './link-host.ts';
export { createManualClock, type ManualClock, settle } from './manual-clock.ts';
export { createMemoryDuplex, type MemoryDuplex, type MemoryDuplexKnobs } from './memory-duplex.ts';
export { ExecutorHost, ReaderHost, rawBytesOf } from './run-host.ts';
export { createTestClock } from './system-clock.ts';
export { createTestCertificate, type TestCertificate } from './test-certificate.ts';
