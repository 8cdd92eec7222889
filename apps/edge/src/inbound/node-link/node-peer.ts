import { type CancelCause, type Clock, LiveMap } from '@iop/domain';
import { Ledger, type Link, Pump, WindowBudget } from '@iop/link';
import {
  CancelRequestSchema,
  create,
  RunAckEntrySchema,
  RunAckSchema,
  type RunCredit,
  type RunEvents,
  type RunResumeEntry,
  RunResumeEntrySchema,
  RunResumeSchema,
} from '@iop/wire';
import type {
  AttemptRef,
  AttemptSink,
  NodeConfig,
  NodeLink,
  ResumeAnswer,
  RunOrder,
} from '../../ports/node-link.ts';
import { LinkAttempt } from './link-attempt.ts';
import { toConfigPayload, toRunRequest } from './to-wire.ts';

/** Everything that the Edge has on the wire with one Node, through all its links. */
export class NodePeer implements NodeLink {
  readonly #attempts = new LiveMap<string, LinkAttempt>();
  readonly #ledger: Ledger;
  readonly #pump: Pump;
  readonly #budget = new WindowBudget();
  #link: Link | undefined;

  constructor(clock: Clock) {
    this.#ledger = new Ledger(clock);
    this.#pump = new Pump(clock);
  }

  attach(link: Link): void {
    this.#link = link;
    this.#ledger.attach(link);
    this.#pump.attach(link);
  }

  /** An older link that ends late changes nothing. */
  detach(link: Link): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    this.#ledger.detach();
    this.#pump.detach();
  }

  drained(): void {
    this.#pump.drained();
  }

  configure(config: NodeConfig): void {
    this.#link?.send(toConfigPayload(config));
  }

  dispatch(order: RunOrder, sink: AttemptSink): void {
    this.#release(order.runId);
    const windowBytes = this.#budget.take();
    const ledger = this.#ledger;
    const attempt = new LinkAttempt({ order, sink, windowBytes, ledger, pump: this.#pump });
    this.#attempts.set(order.runId, attempt);
    this.#link?.send(toRunRequest(order, { body: attempt.firstPart, windowBytes }));
    attempt.startBody();
  }

  adopt(ref: AttemptRef, sink: AttemptSink, receivedSeq: number): void {
    const windowBytes = this.#budget.take();
    const ledger = this.#ledger;
    this.#attempts.set(ref.runId, new LinkAttempt({ ref, sink, windowBytes, ledger, receivedSeq }));
  }

  committed(ref: AttemptRef, seq: number): void {
    this.#find(ref)?.inbox.committed(seq);
  }

  cancel({ runId, attempt }: AttemptRef, by: CancelCause): void {
    this.#link?.send({ case: 'cancelRequest', value: create(CancelRequestSchema, { runId, attempt, by }) });
  }

  consumed(ref: AttemptRef, sizeBytes: number): void {
    this.#find(ref)?.inbox.consumed(sizeBytes);
  }

  receivedSeq(ref: AttemptRef): number {
    return this.#find(ref)?.inbox.receivedSeq ?? 0;
  }

  forget(ref: AttemptRef): void {
    if (this.#find(ref) !== undefined) this.#release(ref.runId);
  }

  resume(answers: readonly ResumeAnswer[]): void {
    const entries = answers.map((answer) => this.#resumeEntry(answer));
    this.#link?.send({ case: 'runResume', value: create(RunResumeSchema, { entries }) });
    for (const answer of answers) if (answer.kind === 'resume') this.#resumeBody(answer);
  }

  close(reason: string, reconnectAfterMs: number): void {
    this.#link?.close(reason, reconnectAfterMs);
  }

  onAccepted(ref: AttemptRef): void {
    this.#find(ref)?.sink.accepted();
  }

  onCredit({ entries }: RunCredit): void {
    for (const entry of entries) this.#find(entry)?.grantBody(entry.bytes);
  }

  onEvents(batch: RunEvents): void {
    const attempt = this.#find(batch);
    if (attempt === undefined) {
      this.#refuse(batch);
      return;
    }
    const end = attempt.receive(batch);
    if (end === undefined) return;
    // forgotten first: the core may give this Node the next attempt of the same run at once
    if (!attempt.isDetached) this.forget(batch);
    attempt.sink.end(end, attempt.inbox.receivedSeq);
  }

  /** E7: nobody waits for these. Acked, so that the Node can forget them, and told to stop. */
  #refuse(batch: RunEvents): void {
    const { runId, attempt, firstSeq, events } = batch;
    const seq = firstSeq + events.length - 1;
    const entries = [create(RunAckEntrySchema, { runId, attempt, seq })];
    this.#link?.send({ case: 'runAck', value: create(RunAckSchema, { entries }) });
    if (events.at(-1)?.kind.case !== 'end') this.cancel(batch, 'superseded');
  }

  #resumeEntry(answer: ResumeAnswer): RunResumeEntry {
    const { runId, attempt } = answer;
    const held = answer.kind === 'resume' ? this.#find(answer) : undefined;
    if (held === undefined) return create(RunResumeEntrySchema, { runId, attempt, drop: true });
    const { afterSeq, eventCreditBytes } = held.inbox.resume();
    return create(RunResumeEntrySchema, { runId, attempt, afterSeq, eventCredit: eventCreditBytes });
  }

  #resumeBody(answer: ResumeAnswer & { kind: 'resume' }): void {
    const held = this.#find(answer);
    if (held === undefined || held.resumeBody(answer.bodyReceivedBytes)) return;
    held.sink.broken('request.body-broken', `it claims ${answer.bodyReceivedBytes} bytes of the request`);
  }

  #release(runId: string): void {
    const attempt = this.#attempts.get(runId);
    if (attempt === undefined) return;
    this.#attempts.delete(runId);
    this.#budget.release(attempt.windowBytes);
  }

  #find({ runId, attempt }: AttemptRef): LinkAttempt | undefined {
    const found = this.#attempts.get(runId);
    return found?.attempt === attempt ? found : undefined;
  }
}
