/** Which parts of the Edge are missing. A part is missing until it is said to work. */
export interface Readiness {
  /** `problem` for people; undefined: the part works. */
  set(part: string, problem: string | undefined): void;
  check(): { ready: boolean; detail: string };
}

/** @param parts everything that has to work */
export function createReadiness(parts: readonly string[]): Readiness {
  const problems = new Map<string, string | undefined>(parts.map((part) => [part, 'not started']));
  return {
    set(part, problem) {
      problems.set(part, problem);
    },
    check() {
      const missing = [...problems].filter(([, problem]) => problem !== undefined);
      const detail = missing.map(([part, problem]) => `${part}: ${problem}`).join('; ');
      return { ready: missing.length === 0, detail };
    },
  };
}
