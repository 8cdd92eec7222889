interface Cell<V> {
  value: V | undefined;
}

/**
 * A map for what comes and goes by the thousand: runs, attempts, calls. As `Map`, in insertion order.
 *
 * Why not `Map`: when its table is full of deleted entries V8 moves to a new one, and the old table goes on pointing at the
 * new one and at all that it held. Once a single table has reached the old generation, each later table is dragged there
 * too, with everything in it, and stays until the next full collection: a quarter of all garbage, and scavenges of 30 ms.
 * Here a table holds only cells, and a cell lets go of its value when its entry is deleted.
 */
export class LiveMap<K, V> {
  readonly #cells = new Map<K, Cell<V>>();

  get size(): number {
    return this.#cells.size;
  }

  get(key: K): V | undefined {
    return this.#cells.get(key)?.value;
  }

  has(key: K): boolean {
    return this.#cells.has(key);
  }

  /** A key that is known keeps its place. */
  set(key: K, value: V): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) this.#cells.set(key, { value });
    else cell.value = value;
  }

  /** False: it was not there. */
  delete(key: K): boolean {
    const cell = this.#cells.get(key);
    if (cell === undefined) return false;
    cell.value = undefined;
    return this.#cells.delete(key);
  }

  clear(): void {
    for (const cell of this.#cells.values()) cell.value = undefined;
    this.#cells.clear();
  }

  keys(): MapIterator<K> {
    return this.#cells.keys();
  }

  *values(): Generator<V, void> {
    for (const cell of this.#cells.values()) yield cell.value as V;
  }
}
