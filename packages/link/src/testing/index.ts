export { endEvent, rawEvent, textEvent } from './events.ts';
export { createFakeLink, type FakeLink } from './fake-link.ts';
export { createManualClock, type ManualClock, settle } from './manual-clock.ts';
export { createMemoryDuplex, type MemoryDuplex, type MemoryDuplexKnobs } from './memory-duplex.ts';
export { createTestClock } from './system-clock.ts';
