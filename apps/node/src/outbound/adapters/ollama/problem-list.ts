import type { RunFailure } from '@iop/domain';

/** One thing in a request that cannot be passed on. */
interface Problem {
  kind: 'invalid' | 'unsupported';
  /** Where in the request: `messages[2].content`. */
  param: string;
  message: string;
}

/** Collects what is wrong with a request while it is translated, so that no translator has to stop. */
export class ProblemList {
  readonly #problems: Problem[] = [];

  invalid(param: string, expected: string): void {
    this.#problems.push({ kind: 'invalid', param, message: `${param}: expected ${expected}` });
  }

  unsupported(param: string, why: string): void {
    this.#problems.push({ kind: 'unsupported', param, message: `${param}: ${why}` });
  }

  /** All of them as one failure of the kind of the first; undefined: there is none. */
  toFailure(): RunFailure | undefined {
    const [first] = this.#problems;
    if (first === undefined) return undefined;
    return {
      kind: first.kind,
      code: first.kind === 'invalid' ? 'request.invalid' : 'request.unsupported',
      message: this.#problems
        .slice(0, 5)
        .map((problem) => problem.message)
        .join('; '),
      details: { param: first.param },
      retryable: false,
    };
  }
}

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Many clients send null for what they do not set. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
