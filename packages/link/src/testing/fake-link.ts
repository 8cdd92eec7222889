import { Role } from '@iop/wire';
import { laneOf } from '../lane.ts';
import type { Link, LinkMessage } from '../link.ts';

/** A link that only remembers: for tests of what stands on links. */
export interface FakeLink extends Link {
  /** What was sent and not taken yet, as it was sent. */
  readonly sent: LinkMessage[];
  /** Bytes that seem to wait for the socket; set it to make senders wait. */
  unsentBytes: number;
  unsentControlBytes: number;
  closed: string | undefined;
  /** All of `sent` as the lanes let it leave, control first; `sent` is empty then. */
  take(): LinkMessage[];
}

export function createFakeLink(): FakeLink {
  const sent: LinkMessage[] = [];
  const fake: FakeLink = {
    sent,
    unsentBytes: 0,
    unsentControlBytes: 0,
    closed: undefined,
    roundTripUs: undefined,
    peer: {
      role: Role.NODE,
      name: 'fake',
      instance: '00',
      epoch: 1,
      build: '',
      labels: {},
      transport: { kind: 'memory', address: 'memory' },
    },
    send(message) {
      if (fake.closed === undefined) sent.push(message);
    },
    close: (reason) => {
      fake.closed = reason;
    },
    destroy: (reason) => {
      fake.closed = reason;
    },
    take() {
      const all = sent.splice(0);
      const isControl = (message: LinkMessage): boolean => laneOf(message) === 'control';
      return [...all.filter(isControl), ...all.filter((message) => !isControl(message))];
    },
  };
  return fake;
}
