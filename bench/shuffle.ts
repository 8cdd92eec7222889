/** A seeded order, so that a run can be repeated as it was. Mulberry32 and Fisher–Yates. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export function shuffle<T>(items: readonly T[], random: () => number): T[] {
  const order = items.map((item) => ({ item, key: random() }));
  return order.sort((a, b) => a.key - b.key).map(({ item }) => item);
}
