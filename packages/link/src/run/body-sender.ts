import type { RunBody } from '@iop/wire';
import type { LinkMessage } from '../link.ts';
import type { Pump, PumpSource } from './pump.ts';

/** How far a body may run ahead of its receiver; both sides know it. */
export const bodyWindowBytes = 256 * 1024;

export interface BodySenderOptions {
  runId: string;
  attempt: number;
  body: Uint8Array;
  pump: Pump;
}

/** The Edge's side of a request body: `firstPart` goes into the RunRequest, the rest follows as RunBody (L17, L20, L22, L25). */
export class BodySender implements PumpSource {
  /** What `RunRequest.body` carries. */
  readonly firstPart: Uint8Array;
  readonly #options: BodySenderOptions;
  #offset: number;
  #creditBytes = bodyWindowBytes;
  #generation: number;

  constructor(options: BodySenderOptions) {
    this.#options = options;
    this.#generation = options.pump.generation;
    this.firstPart = options.body.subarray(0, options.pump.inlineBytes);
    this.#offset = this.firstPart.length;
  }

  /** Everything was handed to a link; it may still have to be sent again after a resume. */
  get sent(): boolean {
    return this.#offset === this.#options.body.length;
  }

  /** After the RunRequest was sent. */
  start(): void {
    if (this.sendable) this.#options.pump.ready(this);
  }

  /** RunCredit from the executor. */
  grant(sizeBytes: number): void {
    if (this.#generation !== this.#options.pump.generation) return;
    this.#creditBytes += sizeBytes;
    this.start();
  }

  /** On the link that is attached now; `bodyReceived` from the RunInventory. False: the executor claims what does not exist. */
  resume(bodyReceived: number): boolean {
    if (bodyReceived > this.#options.body.length) return false;
    this.#generation = this.#options.pump.generation;
    this.#offset = bodyReceived;
    this.#creditBytes = bodyWindowBytes;
    this.start();
    return true;
  }

  get sendable(): boolean {
    return this.#generation === this.#options.pump.generation && !this.sent && this.#creditBytes > 0;
  }

  takePart(maxBytes: number): RunBody | undefined {
    if (!this.sendable) return undefined;
    const { runId, attempt, body } = this.#options;
    const offset = this.#offset;
    const data = body.subarray(offset, offset + Math.min(maxBytes, this.#creditBytes));
    this.#offset += data.length;
    this.#creditBytes -= data.length;
    return { $typeName: 'iop.wire.v1.RunBody', runId, attempt, offset, data };
  }

  takeMessage(maxBytes: number): LinkMessage | undefined {
    const value = this.takePart(maxBytes);
    return value && { case: 'runBody', value };
  }
}
