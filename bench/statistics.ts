/** Statistics of the benchmark. Pure. Quantiles are nearest-rank: always a value that was really measured. */

export interface Summary {
  count: number;
  p50: number;
  p99: number;
  max: number;
}

/** Of samples in any order; all NaN when there are none. */
export function summarize(samples: ArrayLike<number>): Summary {
  const sorted = Float64Array.from(samples).sort();
  return {
    count: sorted.length,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    max: sorted.at(-1) ?? Number.NaN,
  };
}

/** @param sorted ascending */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  const rank = Math.max(1, Math.ceil(q * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/** Of an even number of values: the mean of the middle two. */
export function median(values: ArrayLike<number>): number {
  const sorted = Float64Array.from(values).sort();
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  return upper === undefined || lower === undefined ? Number.NaN : (lower + upper) / 2;
}

/**
 * Median of the differences within each round: what a round's weather adds to both sides cancels out.
 * Rounds that lack one side are left out.
 */
export function pairedDifference(
  mine: ReadonlyMap<number, number>,
  base: ReadonlyMap<number, number>,
): number {
  const differences: number[] = [];
  for (const [round, value] of mine) {
    const other = base.get(round);
    if (other !== undefined) differences.push(value - other);
  }
  return median(differences);
}

/** Collects numbers without boxing them. */
export class Samples {
  #values = new Float64Array(1024);
  #count = 0;

  push(value: number): void {
    if (this.#count === this.#values.length) this.#grow();
    this.#values[this.#count++] = value;
  }

  get count(): number {
    return this.#count;
  }

  values(): Float64Array {
    return this.#values.subarray(0, this.#count);
  }

  #grow(): void {
    const larger = new Float64Array(this.#values.length * 2);
    larger.set(this.#values);
    this.#values = larger;
  }
}
