import type { Problem } from '../http/problem.ts';

/** Keeps the first problem that is met while a request is translated. */
export class ProblemBook {
  first: Problem | undefined;

  wrongType(path: string, expected: string, got: unknown): void {
    this.#keep(got === undefined ? { kind: 'missing', path } : { kind: 'type', path, expected, got });
  }

  unsupported(path: string, why: string): void {
    this.#keep({ kind: 'value', path, code: 'unsupported_value', rule: why });
  }

  invalid(path: string, rule: string): void {
    this.#keep({ kind: 'value', path, code: 'invalid_value', rule });
  }

  #keep(problem: Problem): void {
    this.first ??= problem;
  }
}
