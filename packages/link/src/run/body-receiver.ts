import type { RunBody, RunRequest } from '@iop/wire';
import { bodyWindowBytes } from './body-sender.ts';
import type { Ledger, LedgerBook } from './ledger.ts';

export interface BodyReceiverOptions {
  /** Carries the first part and the size of the whole. */
  request: Pick<RunRequest, 'runId' | 'attempt' | 'body' | 'bodySize'>;
  ledger: Ledger;
}

export type BodyStep =
  | { kind: 'partial' }
  /** `body` is the whole body; said once. */
  | { kind: 'complete'; body: Uint8Array }
  | { kind: 'duplicate' }
  /** A hole, or more than was announced: the request cannot be executed. */
  | { kind: 'broken'; reason: string };

/** The executor's side of a request body (L22). Outlives links. */
export class BodyReceiver implements LedgerBook {
  readonly runId: string;
  readonly attempt: number;
  readonly #sizeBytes: number;
  readonly #ledger: Ledger;
  #parts: Uint8Array[];
  #received: number;
  /** Received since the last credit. */
  #owedBytes = 0;

  constructor({ request, ledger }: BodyReceiverOptions) {
    this.runId = request.runId;
    this.attempt = request.attempt;
    this.#sizeBytes = request.bodySize;
    this.#ledger = ledger;
    this.#parts = [request.body];
    this.#received = request.body.length;
  }

  /** For RunInventory. */
  get received(): number {
    return this.#received;
  }

  /** To be asked once after construction: a small body came whole with its request. */
  begin(): BodyStep {
    return this.#step();
  }

  receive(part: RunBody): BodyStep {
    if (part.offset > this.#received) {
      return {
        kind: 'broken',
        reason: `bytes ${this.#received} to ${part.offset} of the request body are missing`,
      };
    }
    const fresh = part.data.subarray(this.#received - part.offset);
    if (fresh.length === 0) return { kind: 'duplicate' };
    this.#parts.push(fresh);
    this.#received += fresh.length;
    this.#owedBytes += fresh.length;
    if (this.#owesCredit()) this.#ledger.note(this, true);
    return this.#step();
  }

  takeAck(): number {
    return 0;
  }

  takeCredit(): number {
    if (!this.#owesCredit()) return 0;
    const bytes = this.#owedBytes;
    this.#owedBytes = 0;
    return bytes;
  }

  /** After a resume the sender counts a whole window from `received`. */
  resume(): void {
    this.#owedBytes = 0;
  }

  #owesCredit(): boolean {
    return this.#received < this.#sizeBytes && this.#owedBytes >= bodyWindowBytes / 4;
  }

  #step(): BodyStep {
    if (this.#received > this.#sizeBytes) {
      return {
        kind: 'broken',
        reason: `the request body has more than the announced ${this.#sizeBytes} bytes`,
      };
    }
    if (this.#received < this.#sizeBytes) return { kind: 'partial' };
    const body = join(this.#parts, this.#received);
    this.#parts = [];
    return { kind: 'complete', body };
  }
}

function join(parts: readonly Uint8Array[], sizeBytes: number): Uint8Array {
  if (parts.length === 1) return parts[0] as Uint8Array;
  const whole = new Uint8Array(sizeBytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
