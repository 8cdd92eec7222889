/** A seeded source of randomness, so that a failure can be run again: mulberry32. */
export interface Random {
  /** Uniform in [0, 1). */
  fraction(): number;
  /** Uniform in [0, limit). */
  below(limit: number): number;
  bytes(size: number): Uint8Array;
  pick<T>(from: readonly T[]): T;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;

  function fraction(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  function below(limit: number): number {
    return Math.floor(fraction() * limit);
  }

  return {
    fraction,
    below,
    bytes: (size) => Uint8Array.from({ length: size }, () => below(256)),
    pick: (from) => from[below(from.length)] as (typeof from)[number],
  };
}
