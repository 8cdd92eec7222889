/** L13: full jitter, with a floor that the server may set. */
export const backoffCapMs = 16_000;
export const healthyAfterMs = 60_000;
/** No server can send a peer away for longer than this. */
const longestRetryAfterMs = 10 * 60_000;

export class Backoff {
  readonly #random: () => number;
  #attempt = 0;
  #firstMs = firstDelayMs(0);

  /** @param random uniform in [0, 1) */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** How many peers share the server, as its last Welcome said. */
  setFleetSize(fleetSize: number): void {
    this.#firstMs = firstDelayMs(fleetSize);
  }

  /** After a link that lived long enough to call it healthy. */
  reset(): void {
    this.#attempt = 0;
  }

  /** @param retryAfterMs what the server asked for; never undercut. 0: nothing. */
  nextMs(retryAfterMs = 0): number {
    const jitterMs = this.#random() * Math.min(backoffCapMs, this.#firstMs * 2 ** this.#attempt);
    if (this.#attempt < 20) this.#attempt++;
    return Math.min(retryAfterMs, longestRetryAfterMs) + jitterMs;
  }
}

/**
 * Wide enough that the waves of first and second attempts do not add up to a herd, and, up to 2000 peers, short
 * enough that one broken link is back within the grace of 10 s (docs/adr/0008).
 */
function firstDelayMs(fleetSize: number): number {
  const spreadMs = Math.min(8_000, (fleetSize / 64) * 1000);
  return Math.max(500, spreadMs, (fleetSize / 250) * 1000);
}
