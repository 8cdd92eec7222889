const lineFeed = 10;
const carriageReturn = 13;

/**
 * Gives every server-sent event of a stream its number as `id`, from 1. The same log gives the same numbers, so that
 * whoever comes back after number n is shown the rest: what has a smaller one is left out.
 */
export class EventNumbers {
  readonly #afterNumber: number;
  #last = 0;

  /** @param afterNumber of the last event that the caller has */
  constructor(afterNumber = 0) {
    this.#afterNumber = afterNumber;
  }

  /** @param bytes whole events; `push` gets what is to be shown of them */
  number(bytes: Uint8Array, push: (bytes: Uint8Array) => void): void {
    let from = 0;
    while (from < bytes.length) {
      const to = endOfEvent(bytes, from);
      if (++this.#last > this.#afterNumber) {
        push(Buffer.from(`id: ${this.#last}\n`, 'latin1'));
        push(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to));
      }
      from = to;
    }
  }
}

/** After the blank line that ends it, whatever ends its lines. */
function endOfEvent(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(lineFeed, from); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
    if (bytes[at + 1] === lineFeed) return at + 2;
    if (bytes[at + 1] === carriageReturn && bytes[at + 2] === lineFeed) return at + 3;
  }
  return bytes.length;
}
