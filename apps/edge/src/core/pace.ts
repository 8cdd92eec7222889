/** How long runs take, to say when it is worth asking again. */
export interface Pace {
  /** A run was completed after so long. */
  note(tookMs: number): void;
  /** When a run that comes now would find a place: `ahead` wait, `running` have one. */
  retryAfterMs(ahead: number, running: number): number;
}

/** Weight of the newest run. */
const weight = 0.1;
const soonestMs = 1000;
const latestMs = 60_000;

export function createPace(): Pace {
  let usualMs: number | undefined;
  return {
    note(tookMs) {
      usualMs = usualMs === undefined ? tookMs : usualMs + weight * (tookMs - usualMs);
    },
    retryAfterMs(ahead, running) {
      const waitMs = ((usualMs ?? 0) * (ahead + 1)) / Math.max(1, running);
      return Math.min(latestMs, Math.max(soonestMs, Math.ceil(waitMs)));
    },
  };
}
