export interface SpareRoomLimits {
  /** Of one outbox. */
  runBytes?: number;
  /** Of all together. */
  totalBytes?: number;
}

/**
 * Memory that some outboxes may use beyond their ring, shared by all of them: what they say ahead of credit and links.
 * Who waits for room in it need not be told when another one leaves some: its own acks wake it.
 */
export class SpareRoom {
  readonly #runBytes: number;
  readonly #totalBytes: number;
  #usedBytes = 0;

  constructor({ runBytes = 8 * 1024 * 1024, totalBytes = 64 * 1024 * 1024 }: SpareRoomLimits = {}) {
    this.#runBytes = runBytes;
    this.#totalBytes = totalBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Whether an outbox that uses `ownBytes` of it may take more. */
  hasRoom(ownBytes: number): boolean {
    return ownBytes < this.#runBytes && this.#usedBytes < this.#totalBytes;
  }

  use(moreBytes: number): void {
    this.#usedBytes += moreBytes;
  }
}
