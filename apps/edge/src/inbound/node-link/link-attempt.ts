import type { RunEnd } from '@iop/domain';
import { BodySender, type InboxStep, type Ledger, type Pump, RunInbox } from '@iop/link';
import type { RuntimeEvent } from '@iop/runtime';
import { fromEndEvent, type RunEvent, type RunEvents, RunState, runEventSizeBytes } from '@iop/wire';
import type { AttemptRef, AttemptSink, RunOrder } from '../../ports/node-link.ts';
import { toRuntimeEvent } from '../../run-events/from-wire.ts';

export interface LinkAttemptInit {
  order: RunOrder;
  sink: AttemptSink;
  windowBytes: number;
  ledger: Ledger;
  pump: Pump;
}

/** An attempt of an earlier process of the Edge: its Node has the whole request. */
export interface AdoptedAttempt extends Omit<LinkAttemptInit, 'order' | 'pump'> {
  ref: AttemptRef;
  receivedSeq: number;
}

/** One dispatched attempt between the wire and the core. Outlives links. */
export class LinkAttempt {
  readonly attempt: number;
  readonly windowBytes: number;
  readonly sink: AttemptSink;
  readonly inbox: RunInbox;
  /** Acked by commit, and held until the core forgets it. */
  readonly isDetached: boolean;
  /** Gone when the Node must have the whole body. */
  #sender: BodySender | undefined;

  constructor(init: LinkAttemptInit | AdoptedAttempt) {
    const { sink, windowBytes, ledger } = init;
    const { runId, attempt } = 'order' in init ? init.order : init.ref;
    this.attempt = attempt;
    this.windowBytes = windowBytes;
    this.sink = sink;
    this.isDetached = !('order' in init) || init.order.detached;
    if ('order' in init) {
      const ackOn = init.order.detached ? 'commit' : 'receipt';
      this.inbox = new RunInbox({ runId, attempt, windowBytes, ledger, ackOn });
      this.#sender = new BodySender({ runId, attempt, body: init.order.body, pump: init.pump });
    } else {
      const { receivedSeq } = init;
      this.inbox = new RunInbox({ runId, attempt, windowBytes, ledger, ackOn: 'commit', receivedSeq });
    }
  }

  get firstPart(): Uint8Array {
    return this.#sender?.firstPart ?? new Uint8Array(0);
  }

  startBody(): void {
    this.#sender?.start();
  }

  grantBody(sizeBytes: number): void {
    this.#sender?.grant(sizeBytes);
  }

  /** Passes on what has just arrived, all but the end, which it returns. */
  receive(batch: RunEvents): RunEnd | undefined {
    const step = this.inbox.receive(batch);
    if (step.kind === 'fresh') {
      this.#dropSentBody();
      return this.#deliver(step);
    }
    if (step.kind === 'gap') {
      this.sink.broken('event.gap', `event ${step.expectedSeq} is missing, ${step.firstSeq} came instead`);
    } else if (step.kind === 'overdrawn') {
      this.sink.broken('event.overdrawn', `it sent ${step.byBytes} bytes more than it was allowed to`);
    }
    return undefined;
  }

  /** False: the Node claims to have more of the body than there is. */
  resumeBody(bodyReceivedBytes: number): boolean {
    return this.#sender?.resume(bodyReceivedBytes) ?? true;
  }

  /** A Node that answers has read the request: a large body need not be kept for it. */
  #dropSentBody(): void {
    if (this.#sender?.sent === true) this.#sender = undefined;
  }

  #deliver({ events, sizeBytes }: InboxStep & { kind: 'fresh' }): RunEnd | undefined {
    const last = events.at(-1);
    const shown: RuntimeEvent[] = [];
    let hiddenBytes = 0;
    for (const event of events) {
      const runtime = toRuntimeEvent(event);
      if (runtime !== undefined) shown.push(runtime);
      else hiddenBytes += runEventSizeBytes(event);
    }
    const { receivedSeq, ended } = this.inbox;
    // the seq of the end is acked with the end
    const lastSeq = ended ? receivedSeq - 1 : receivedSeq;
    if (shown.length > 0) this.sink.events(shown, sizeBytes - hiddenBytes, lastSeq);
    // no reader will ever pass these on
    if (hiddenBytes > 0) this.inbox.consumed(hiddenBytes);
    if (hiddenBytes > 0) this.#tellState(events);
    return last?.kind.case === 'end' ? fromEndEvent(last.kind.value) : undefined;
  }

  #tellState(events: readonly RunEvent[]): void {
    for (const { kind } of events) {
      if (kind.case !== 'state') continue;
      if (kind.value.state === RunState.WAITING) this.sink.stateChanged('waiting');
      if (kind.value.state === RunState.RUNNING) this.sink.stateChanged('running');
    }
  }
}
