import type { Clock } from '@iop/domain';
import {
  create,
  type RunEvent,
  type RunEvents,
  RunInventoryEntrySchema,
  RunInventorySchema,
  RunResumeEntrySchema,
  RunResumeSchema,
  type WireMessage,
} from '@iop/wire';
import type { Link, LinkHandlers } from '../link.ts';
import { Ledger } from '../run/ledger.ts';
import { Pump } from '../run/pump.ts';
import { type InboxStep, RunInbox } from '../run/run-inbox.ts';
import { RunOutbox } from '../run/run-outbox.ts';

const runId = 'run_01jx5k8v3m4n5p6q7r8s9t0abc';

/** One run on the executor's side, over as many links as it takes: what a Node does, and nothing else. */
export class ExecutorHost {
  readonly pump: Pump;
  readonly outbox: RunOutbox;

  constructor(clock: Clock, creditBytes: number) {
    this.pump = new Pump(clock);
    this.outbox = new RunOutbox({ runId, attempt: 1, creditBytes, pump: this.pump });
  }

  onLink(link: Link): LinkHandlers {
    this.pump.attach(link);
    const { lastSeq, firstKeptSeq } = this.outbox;
    const entry = create(RunInventoryEntrySchema, { runId, attempt: 1, lastSeq, firstKeptSeq });
    link.send({ case: 'runInventory', value: create(RunInventorySchema, { entries: [entry] }) });
    return {
      onMessage: (message) => this.#onMessage(message),
      onDrain: () => this.pump.drained(),
      onClosed: () => this.pump.detach(),
    };
  }

  #onMessage(message: WireMessage): void {
    if (message.case === 'runAck') for (const { seq } of message.value.entries) this.outbox.ack(seq);
    if (message.case === 'runCredit') for (const { bytes } of message.value.entries) this.outbox.grant(bytes);
    if (message.case !== 'runResume') return;
    for (const { afterSeq, eventCredit } of message.value.entries) this.outbox.resume(afterSeq, eventCredit);
  }
}

/** The same run on the Edge's side, with a reader that takes everything at once. */
export class ReaderHost {
  readonly ledger: Ledger;
  readonly inbox: RunInbox;
  readonly seen: RunEvent[] = [];
  /** Called with the number of events that just came. */
  onFresh: (count: number) => void = () => {};
  /** Everything that was not `fresh`. */
  readonly troubles: InboxStep[] = [];

  constructor(clock: Clock, windowBytes: number) {
    this.ledger = new Ledger(clock);
    this.inbox = new RunInbox({ runId, attempt: 1, windowBytes, ledger: this.ledger });
  }

  onLink(link: Link): LinkHandlers {
    this.ledger.attach(link);
    return {
      onMessage: (message) => {
        if (message.case === 'runInventory') this.#resume(link);
        if (message.case === 'runEvents') this.#receive(message.value);
      },
      onClosed: () => this.ledger.detach(),
    };
  }

  #resume(link: Link): void {
    const { afterSeq, eventCreditBytes: eventCredit } = this.inbox.resume();
    const entry = create(RunResumeEntrySchema, { runId, attempt: 1, afterSeq, eventCredit });
    link.send({ case: 'runResume', value: create(RunResumeSchema, { entries: [entry] }) });
  }

  #receive(batch: RunEvents): void {
    const step = this.inbox.receive(batch);
    if (step.kind !== 'fresh') {
      this.troubles.push(step);
      return;
    }
    this.seen.push(...step.events);
    this.onFresh(step.events.length);
    this.inbox.consumed(step.sizeBytes);
  }
}

/** The bytes of all raw events, one after another. */
export function rawBytesOf(events: readonly RunEvent[]): Buffer {
  return Buffer.concat(events.map(({ kind }) => (kind.case === 'raw' ? kind.value.data : Buffer.alloc(0))));
}
