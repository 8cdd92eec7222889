/** Longest event that is put together here. */
export const eventLimitBytes = 4 * 1024 * 1024;

export type Joined = { kind: 'whole'; bytes: Uint8Array } | { kind: 'held' } | { kind: 'too-large' };

/** Puts the pieces of an event together that was too large for one frame: callers see whole events only. */
export class EventJoiner {
  #pieces: Uint8Array[] = [];
  #sizeBytes = 0;

  get isHolding(): boolean {
    return this.#pieces.length > 0;
  }

  /** @param more further pieces of the same event follow */
  add(bytes: Uint8Array, more: boolean): Joined {
    if (!more && this.#pieces.length === 0) return { kind: 'whole', bytes };
    this.#pieces.push(bytes);
    this.#sizeBytes += bytes.length;
    if (this.#sizeBytes > eventLimitBytes) return { kind: 'too-large' };
    if (more) return { kind: 'held' };
    const whole = Buffer.concat(this.#pieces, this.#sizeBytes);
    this.#pieces = [];
    this.#sizeBytes = 0;
    return { kind: 'whole', bytes: whole };
  }
}
