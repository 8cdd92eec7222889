import { IopError } from '@iop/domain';
import { type RunEvent, type RunEvents, runEventPayloadBytes, runEventSizeBytes } from '@iop/wire';
import type { LinkMessage } from '../link.ts';
import type { Pump, PumpSource } from './pump.ts';
import type { SpareRoom } from './spare-room.ts';
import { isOversized, splitEvent } from './split-event.ts';

export interface RunOutboxOptions {
  runId: string;
  attempt: number;
  /** `RunRequest.event_credit`, bytes. */
  creditBytes: number;
  pump: Pump;
  /** Most that is kept unacked before `append` says that there is no room; at least twice the credit. */
  ringBytes?: number;
  /** Memory beyond the ring, which also lets it run ahead of credit and links (L23). */
  spare?: SpareRoom;
}

/** The end of an attempt and what is left of the events before it, as another process has kept them. */
export interface RestoredRun extends Pick<RunOutboxOptions, 'runId' | 'attempt' | 'pump'> {
  firstSeq: number;
  /** The last one is the end. */
  events: readonly RunEvent[];
}

const defaultRingBytes = 512 * 1024;

/**
 * The executor's side of one attempt: numbers events, keeps them until they are acked, sends them while there
 * is credit (L14–L17, L20). Outlives links.
 */
export class RunOutbox implements PumpSource {
  readonly runId: string;
  readonly attempt: number;
  readonly #pump: Pump;
  readonly #ringBytes: number;
  /** Events from seq `#firstSeq` on; acked ones are undefined until the array is cut. */
  readonly #events: (RunEvent | undefined)[] = [];
  #firstSeq = 1;
  #ackedSeq = 0;
  #sentSeq = 0;
  #waitingBytes = 0;
  #keptBytes = 0;
  #creditBytes: number;
  #generation: number;
  #ended = false;
  #roomCallbacks: (() => void)[] = [];
  readonly #spare: SpareRoom | undefined;
  #spareBytes = 0;

  constructor(options: RunOutboxOptions) {
    this.runId = options.runId;
    this.attempt = options.attempt;
    this.#pump = options.pump;
    this.#creditBytes = options.creditBytes;
    this.#ringBytes = Math.max(options.ringBytes ?? defaultRingBytes, 2 * options.creditBytes);
    this.#generation = options.pump.generation;
    this.#spare = options.spare;
  }

  /** Says nothing before it is resumed (L24). */
  static restore({ firstSeq, events, ...options }: RestoredRun): RunOutbox {
    const outbox = new RunOutbox({ ...options, creditBytes: 0 });
    outbox.#firstSeq = firstSeq;
    outbox.#ackedSeq = firstSeq - 1;
    outbox.#sentSeq = firstSeq - 1;
    outbox.#generation = -1;
    for (const event of events) outbox.#push(event);
    return outbox;
  }

  get lastSeq(): number {
    return this.#firstSeq + this.#events.length - 1;
  }

  /** For RunInventory: everything from here on can be sent again. */
  get firstKeptSeq(): number {
    return this.#ackedSeq + 1;
  }

  /** Appended and not yet sent, for want of credit, link or time. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** The end was appended. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The end was acked: the attempt can be forgotten. */
  get finished(): boolean {
    return this.#ended && this.#ackedSeq === this.lastSeq;
  }

  get hasRoom(): boolean {
    if (this.#spare === undefined)
      return this.#creditBytes > this.#waitingBytes && this.#keptBytes < this.#ringBytes;
    return this.#keptBytes < this.#ringBytes || this.#spare.hasRoom(this.#spareBytes);
  }

  /** What was appended and is not acked, to be kept elsewhere; `events[0]` is `firstKeptSeq`. */
  unacked(): readonly RunEvent[] {
    return this.#events.slice(this.firstKeptSeq - this.#firstSeq) as RunEvent[];
  }

  /** Nothing of it will be asked for again. */
  forget(): void {
    this.#useSpare(0);
  }

  /**
   * Takes the event, always; a large one becomes several (L20). False: the window is used up, read no
   * further until `whenRoom` calls; what was already read may still be appended.
   */
  append(event: RunEvent): boolean {
    if (this.#ended) throw afterEnd(this.runId, event);
    if (isOversized(event)) for (const piece of splitEvent(event)) this.#push(piece);
    else this.#push(event);
    if (this.sendable) this.#pump.ready(this);
    return this.hasRoom;
  }

  /**
   * Forgets what was never sent, so that an end which says that the answer was cut need not wait for a reader who
   * takes nothing. Those seqs were never on a wire and are given again (L14).
   */
  discardUnsent(): void {
    if (this.#ended) return;
    const dropped = this.#events.splice(this.#sentSeq + 1 - this.#firstSeq);
    for (const event of dropped) this.#keptBytes -= runEventSizeBytes(event as RunEvent);
    this.#waitingBytes = 0;
  }

  /** Calls once, as soon as there is room; before returning if there is room now. */
  whenRoom(callback: () => void): void {
    if (this.hasRoom) callback();
    else this.#roomCallbacks.push(callback);
  }

  /** RunCredit. */
  grant(sizeBytes: number): void {
    if (this.#generation !== this.#pump.generation) return;
    this.#creditBytes += sizeBytes;
    this.#onProgress();
  }

  /** RunAck: everything up to `seq` will not be asked for again. More than was sent is not believed. */
  ack(seq: number): void {
    const upTo = Math.min(seq, this.#sentSeq);
    if (upTo <= this.#ackedSeq) return;
    while (this.#ackedSeq < upTo) {
      const at = ++this.#ackedSeq - this.#firstSeq;
      this.#keptBytes -= runEventSizeBytes(this.#events[at] as RunEvent);
      this.#events[at] = undefined;
    }
    this.#cut();
    if (this.#spare !== undefined) this.#useSpare(Math.max(0, this.#keptBytes - this.#ringBytes));
    this.#onProgress();
  }

  /**
   * RunResume on the link that is attached now (L21). False: what is asked for is not here any more (or never
   * was), the attempt cannot go on.
   */
  resume(afterSeq: number, creditBytes: number): boolean {
    if (afterSeq < this.#ackedSeq || afterSeq > this.lastSeq) return false;
    this.#generation = this.#pump.generation;
    this.#sentSeq = afterSeq;
    this.#creditBytes = creditBytes;
    this.#waitingBytes = 0;
    for (let seq = afterSeq + 1; seq <= this.lastSeq; seq++) this.#waitingBytes += this.#sizeOf(seq);
    this.#onProgress();
    return true;
  }

  get sendable(): boolean {
    if (this.#generation !== this.#pump.generation || this.#sentSeq === this.lastSeq) return false;
    return this.#creditBytes > 0 || this.#sizeOf(this.#sentSeq + 1) === 0;
  }

  /** The next events with together at most `maxBytes` of payload, one at least, if they may leave now. */
  takeBatch(maxBytes: number): RunEvents | undefined {
    if (!this.sendable) return undefined;
    const firstSeq = this.#sentSeq + 1;
    const events: RunEvent[] = [];
    let payloadBytes = 0;
    while (this.sendable) {
      const event = this.#events[this.#sentSeq + 1 - this.#firstSeq] as RunEvent;
      payloadBytes += runEventPayloadBytes(event);
      if (payloadBytes > maxBytes && events.length > 0) break;
      const size = runEventSizeBytes(event);
      this.#creditBytes -= size;
      this.#waitingBytes -= size;
      this.#sentSeq++;
      events.push(event);
    }
    return { $typeName: 'iop.wire.v1.RunEvents', runId: this.runId, attempt: this.attempt, firstSeq, events };
  }

  takeMessage(maxBytes: number): LinkMessage | undefined {
    const value = this.takeBatch(maxBytes);
    return value && { case: 'runEvents', value };
  }

  #push(event: RunEvent): void {
    const size = runEventSizeBytes(event);
    this.#events.push(event);
    this.#waitingBytes += size;
    this.#keptBytes += size;
    if (this.#spare !== undefined) this.#useSpare(Math.max(0, this.#keptBytes - this.#ringBytes));
    if (event.kind.case === 'end') this.#ended = true;
  }

  #useSpare(sizeBytes: number): void {
    this.#spare?.use(sizeBytes - this.#spareBytes);
    this.#spareBytes = sizeBytes;
  }

  #sizeOf(seq: number): number {
    return runEventSizeBytes(this.#events[seq - this.#firstSeq] as RunEvent);
  }

  #onProgress(): void {
    if (this.sendable) this.#pump.ready(this);
    if (this.#roomCallbacks.length === 0 || !this.hasRoom) return;
    const callbacks = this.#roomCallbacks;
    this.#roomCallbacks = [];
    for (const callback of callbacks) callback();
  }

  /** Drops acked slots, rarely enough to cost nothing. */
  #cut(): void {
    const acked = this.#ackedSeq - this.#firstSeq + 1;
    if (acked < this.#events.length && (acked < 64 || 2 * acked < this.#events.length)) return;
    this.#events.splice(0, acked);
    this.#firstSeq += acked;
  }
}

function afterEnd(runId: string, event: RunEvent): IopError {
  return new IopError({
    kind: 'internal',
    code: 'event.after-end',
    message: `run ${runId} emitted ${event.kind.case} after its end`,
  });
}
