import { type Clock, LiveMap, type RunEnd } from '@iop/domain';
import { BodyReceiver, type Ledger, type Link, type Pump } from '@iop/link';
import {
  type CancelRequest,
  create,
  fromCancelCause,
  type RunAck,
  type RunBody,
  RunClass,
  type RunCredit,
  type RunInventory,
  RunInventorySchema,
  type RunRequest,
  type RunResume,
  type RunResumeEntry,
} from '@iop/wire';
import type { Node } from '../../core/node.ts';
import type { RunRequest as CoreRequest } from '../../core/run-request.ts';
import type { Log } from '../../ports/log.ts';
import { AcceptNotes } from './accept-notes.ts';
import { WireChannel } from './wire-channel.ts';

export interface RunDeskDeps {
  node: Node;
  clock: Clock;
  log: Log;
  pump: Pump;
  ledger: Ledger;
  /** A run has failed because its upstream is away. */
  upstreamAway(): void;
}

/**
 * The run messages of the link, both ways, for all attempts that the Edge may still ask for.
 *
 * D1: a channel is here from its RunRequest until its end is acked or the Edge drops it.
 * D2: RunInventory names every channel, RunResume decides about every one of them: what it does not
 *     name is dropped.
 */
export class RunDesk {
  readonly #deps: RunDeskDeps;
  readonly #channels = new LiveMap<string, WireChannel>();
  readonly #accepts: AcceptNotes;
  #whenEmpty: (() => void) | undefined;

  constructor(deps: RunDeskDeps) {
    this.#deps = deps;
    this.#accepts = new AcceptNotes(deps.clock);
  }

  get size(): number {
    return this.#channels.size;
  }

  onRunRequest(request: RunRequest, link: Link): void {
    const { runId, attempt } = request;
    const known = this.#channels.get(runId);
    if (known !== undefined && known.outbox.attempt >= attempt) {
      if (known.outbox.attempt === attempt) this.#accepts.add(known, link);
      return;
    }
    known?.drop();
    const { pump } = this.#deps;
    const channel = new WireChannel({
      runId,
      attempt,
      creditBytes: request.eventCredit,
      pump,
      ended: (ended, end) => this.#onEnded(ended, end),
    });
    this.#channels.set(runId, channel);
    this.#accepts.add(channel, link);
    this.#deps.node.onRunRequest(toCoreRequest(request), channel);
    if (channel.endKind === undefined && request.body.length !== request.bodySize)
      this.#awaitBody(request, channel);
  }

  onRunBody(part: RunBody): void {
    const channel = this.#find(part);
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
      const channel = this.#find(entry);
      if (channel === undefined) continue;
      channel.outbox.ack(entry.seq);
      if (channel.outbox.finished) this.#forget(channel);
    }
  }

  onRunCredit({ entries }: RunCredit): void {
    for (const entry of entries) this.#find(entry)?.outbox.grant(entry.bytes);
  }

  inventory(): RunInventory {
    const stopping = new Set(
      this.#deps.node.status().runs.flatMap((run) => (run.isStopping ? [run.runId] : [])),
    );
    const entries = [...this.#channels.values()].map((channel) =>
      channel.toInventory(stopping.has(channel.outbox.runId) ? 'stopping' : 'running'),
    );
    return create(RunInventorySchema, { entries });
  }

  /** D2. False: an attempt cannot go on; the link must come anew, so that the Edge sees it missing. */
  onRunResume({ entries }: RunResume): boolean {
    let isWell = true;
    const named = new Set<WireChannel>();
    for (const entry of entries) {
      const channel = this.#find(entry);
      if (channel === undefined) continue;
      named.add(channel);
      if (!this.#resume(channel, entry)) isWell = false;
    }
    for (const channel of [...this.#channels.values()]) if (!named.has(channel)) this.#drop(channel);
    return isWell;
  }

  /** Resolves when the Edge has acked every end, or after `limitMs`. */
  async settled(limitMs: number): Promise<void> {
    if (this.#channels.size === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#deps.clock.after(limitMs, resolve);
      this.#whenEmpty = () => {
        cancel();
        resolve();
      };
    });
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
    channel.drop();
    this.#forget(channel);
    this.#deps.node.onFenced(runId, attempt);
  }

  #forget(channel: WireChannel): void {
    this.#channels.delete(channel.outbox.runId);
    if (this.#channels.size === 0) this.#whenEmpty?.();
  }

  #find({ runId, attempt }: { runId: string; attempt: number }): WireChannel | undefined {
    const channel = this.#channels.get(runId);
    return channel?.outbox.attempt === attempt ? channel : undefined;
  }

  #awaitBody(request: RunRequest, channel: WireChannel): void {
    const { runId, attempt } = request;
    channel.body = new BodyReceiver({ request, ledger: this.#deps.ledger });
    const step = channel.body.begin();
    if (step.kind === 'broken') this.#deps.node.onRunBodyBroken(runId, attempt, step.reason);
  }

  #onEnded(_channel: WireChannel, end: RunEnd): void {
    if (end.kind === 'failed' && end.failure.code === 'upstream.unreachable') this.#deps.upstreamAway();
  }
}

function toCoreRequest(request: RunRequest): CoreRequest {
  const { runId, attempt, adapter, target, dialect, stream, includeUsage, deadlineMs, door } = request;
  const core: CoreRequest = {
    runId,
    attempt,
    runClass: request.runClass === RunClass.DETACHED ? 'detached' : 'attached',
    adapter,
    target,
    dialect,
    stream,
    includeUsage,
    body: request.body.length === request.bodySize ? request.body : undefined,
    bodySizeBytes: request.bodySize,
    deadlineMs,
    door,
  };
  if (request.raw !== undefined) core.raw = { path: request.raw.path, contentType: request.raw.contentType };
  return core;
}
