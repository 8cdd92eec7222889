import { BodyReceiver, type Ledger, type Link } from '@iop/link';
import {
  type CancelRequest,
  create,
  fromCancelCause,
  type RunAck,
  type RunBody,
  type RunCredit,
  type RunInventory,
  RunInventorySchema,
  type RunRequest,
  type RunResume,
  type RunResumeEntry,
} from '@iop/wire';
import type { Node } from '../../core/node.ts';
import { AcceptNotes } from './accept-notes.ts';
import { fromWireRequest } from './from-wire-request.ts';
import { RunChannels, type RunChannelsDeps } from './run-channels.ts';
import type { WireChannel } from './wire-channel.ts';

export interface RunDeskDeps extends RunChannelsDeps {
  node: Node;
  ledger: Ledger;
}

/**
 * The run messages of the link, both ways, for all attempts that the Edge may still ask for.
 *
 * D2: RunInventory names every channel, RunResume decides about every one of them: what it does not
 *     name is dropped.
 */
export class RunDesk {
  readonly channels: RunChannels;
  readonly #deps: RunDeskDeps;
  readonly #accepts: AcceptNotes;

  constructor(deps: RunDeskDeps) {
    this.#deps = deps;
    this.channels = new RunChannels(deps);
    this.#accepts = new AcceptNotes(deps.clock);
  }

  /** False: this attempt was here before, and is over or died with an earlier process (K8). */
  onRunRequest(request: RunRequest, link: Link): boolean {
    const { runId, attempt } = request;
    const known = this.channels.ofRun(runId);
    if (known !== undefined && known.outbox.attempt >= attempt) {
      if (known.outbox.attempt === attempt) this.#accepts.add(known, link);
      return true;
    }
    if (known !== undefined) this.channels.forget(known);
    const channel = this.channels.open(request);
    if (this.#deps.node.onRunRequest(fromWireRequest(request), channel).kind === 'stale') {
      this.channels.forget(channel);
      return false;
    }
    this.#accepts.add(channel, link);
    if (!channel.isOver && request.body.length !== request.bodySize) this.#awaitBody(request, channel);
    return true;
  }

  onRunBody(part: RunBody): void {
    const channel = this.channels.find(part);
    const step = channel?.body?.receive(part);
    if (channel === undefined || step === undefined) return;
    const { runId, attempt } = part;
    if (step.kind === 'complete') {
      channel.body = undefined;
      this.#deps.node.onRunBody(runId, attempt, step.body);
    } else if (step.kind === 'broken') {
      this.#deps.node.onRunBodyBroken(runId, attempt, step.reason);
    }
  }

  onCancelRequest({ runId, attempt, by }: CancelRequest): void {
    this.#deps.node.onCancel(runId, attempt, fromCancelCause(by));
  }

  onRunAck({ entries }: RunAck): void {
    for (const entry of entries) {
      const channel = this.channels.find(entry);
      if (channel === undefined) continue;
      channel.outbox.ack(entry.seq);
      if (channel.outbox.finished) this.channels.forget(channel);
    }
  }

  onRunCredit({ entries }: RunCredit): void {
    for (const entry of entries) this.channels.find(entry)?.outbox.grant(entry.bytes);
  }

  inventory(): RunInventory {
    const stopping = new Set(
      this.#deps.node.status().runs.flatMap((run) => (run.isStopping ? [run.runId] : [])),
    );
    const entries = this.channels
      .all()
      .map((channel) => channel.toInventory(stopping.has(channel.outbox.runId) ? 'stopping' : 'running'));
    return create(RunInventorySchema, { entries });
  }

  /** D2. False: an attempt cannot go on; the link must come anew, so that the Edge sees it missing. */
  onRunResume({ entries }: RunResume): boolean {
    let isWell = true;
    const named = new Set<WireChannel>();
    for (const entry of entries) {
      const channel = this.channels.find(entry);
      if (channel === undefined) continue;
      named.add(channel);
      if (!this.#resume(channel, entry)) isWell = false;
    }
    for (const channel of this.channels.all()) if (!named.has(channel)) this.#drop(channel);
    return isWell;
  }

  #resume(channel: WireChannel, entry: RunResumeEntry): boolean {
    if (entry.drop) {
      this.#drop(channel);
      return true;
    }
    channel.body?.resume();
    if (channel.outbox.resume(entry.afterSeq, entry.eventCredit)) return true;
    const { runId, attempt, afterSeq } = entry;
    this.#deps.log.error(
      { run: runId, attempt, afterSeq },
      'events that the edge asks for are gone; run dropped',
    );
    this.#drop(channel);
    return false;
  }

  #drop(channel: WireChannel): void {
    const { runId, attempt } = channel.outbox;
    this.channels.forget(channel);
    this.#deps.node.onFenced(runId, attempt);
  }

  #awaitBody(request: RunRequest, channel: WireChannel): void {
    const { runId, attempt } = request;
    channel.body = new BodyReceiver({ request, ledger: this.#deps.ledger });
    const step = channel.body.begin();
    if (step.kind === 'broken') this.#deps.node.onRunBodyBroken(runId, attempt, step.reason);
  }
}
