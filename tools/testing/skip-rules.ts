/** A row that may never be skipped: without it the product is not shown to work. */
export interface NeverSkip {
  /** Path of the test file from the root. */
  file: string;
  /** The test's name, or the begin of it; absent: every test of the file. */
  test?: string;
  why: string;
}

/** What a test did, as the reporter saw it. */
export interface SeenTest {
  /** From the root. */
  file: string;
  /** With the names of the suites above it: `suite > test`. */
  name: string;
  outcome: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped, in its own words. */
  reason: string;
}

/** Rows of `rules` that were skipped or did not run at all, in words. */
export function brokenSkipRules(rules: readonly NeverSkip[], seen: readonly SeenTest[]): string[] {
  return rules.flatMap((rule) => {
    const row = rule.test === undefined ? rule.file : `${rule.file}: ${rule.test}`;
    const matches = seen.filter((test) => test.file === rule.file && matchesName(test.name, rule.test));
    if (matches.length === 0) return [`${row} did not run; ${rule.why}`];
    const skipped = matches.filter((test) => test.outcome === 'skipped');
    return skipped.map((test) => `${row} was skipped (${test.reason}); ${rule.why}`);
  });
}

function matchesName(name: string, wanted: string | undefined): boolean {
  return wanted === undefined || name.split(' > ').some((part) => part.startsWith(wanted));
}
