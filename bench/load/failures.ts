/** Counts what went wrong and keeps the first reason: one is enough to void a cell. */
export class Failures {
  #count = 0;
  #first: string | undefined;

  add(reason: string): void {
    this.#count++;
    this.#first ??= reason;
  }

  report(): { failed: number; problem?: string } {
    return this.#first === undefined
      ? { failed: this.#count }
      : { failed: this.#count, problem: this.#first };
  }
}
