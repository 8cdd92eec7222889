/**
 * What is wrong with a place, or with a whole adapter of a Node. There only while something is, so that the
 * usual case costs one look at an empty field.
 */
export interface Trouble {
  /** In a row. */
  failures: number;
  /** In a row; each blocks twice as long as the one before. */
  openings: number;
  /** No run before this moment (monotonic). */
  blockedUntilMs: number;
  /** Opened by failures: what comes after the block is one trial. */
  tripped: boolean;
  /** Who is trying it; nobody else may meanwhile (E19). */
  trial: object | undefined;
  /** For people: what happened last. */
  why: string;
  cancelTimer: (() => void) | undefined;
}

export interface BreakerLimits {
  /** Failures in a row that open it; 0: none do. */
  failures: number;
  /** How long the first time. */
  openMs: number;
}

export const longestOpenMs = 60_000;
/** However long an upstream wishes: somebody may have paid its bill meanwhile. */
export const longestPauseMs = 3_600_000;

export function newTrouble(): Trouble {
  return {
    failures: 0,
    openings: 0,
    blockedUntilMs: 0,
    tripped: false,
    trial: undefined,
    why: '',
    cancelTimer: undefined,
  };
}

export type Standing = 'fine' | 'blocked' | 'on-trial';

export function standingOf({ blockedUntilMs, tripped, trial }: Trouble, nowMs: number): Standing {
  if (nowMs < blockedUntilMs) return 'blocked';
  return tripped && trial !== undefined ? 'on-trial' : 'fine';
}

/** Whether it blocks now. A failed trial blocks at once; else it takes so many failures in a row. */
export function noteFailure(trouble: Trouble, limits: BreakerLimits, nowMs: number): boolean {
  trouble.failures++;
  if (limits.failures === 0 || nowMs < trouble.blockedUntilMs) return false;
  if (!trouble.tripped && trouble.failures < limits.failures) return false;
  const openMs = Math.min(longestOpenMs, limits.openMs * 2 ** Math.min(trouble.openings, 16));
  trouble.openings++;
  trouble.tripped = true;
  trouble.blockedUntilMs = nowMs + openMs;
  return true;
}

/** The upstream itself said when to come back. Whoever comes then is no trial: nothing has failed. */
export function pause(trouble: Trouble, pauseMs: number, nowMs: number): void {
  trouble.blockedUntilMs = Math.max(trouble.blockedUntilMs, nowMs + Math.min(pauseMs, longestPauseMs));
}

/** For people; empty: nothing keeps runs away. */
export function describeTrouble(trouble: Trouble | undefined, nowMs: number): string {
  if (trouble === undefined) return '';
  const { blockedUntilMs, why } = trouble;
  const standing = standingOf(trouble, nowMs);
  if (standing === 'on-trial') return `being tried by one run (${why})`;
  if (standing === 'fine') return trouble.tripped ? `next run is a trial (${why})` : '';
  return `breaker open for ${Math.ceil((blockedUntilMs - nowMs) / 1000)} s (${why})`;
}
