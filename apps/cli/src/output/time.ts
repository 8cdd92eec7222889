const steps: readonly [unit: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

/** A length of time in its largest unit: `3 min`, `12 s`, `240 ms`. */
export function formatLength(lengthMs: number): string {
  const step = steps.find(([, ms]) => lengthMs >= ms);
  if (step === undefined) return `${Math.max(0, Math.round(lengthMs))} ms`;
  const value = lengthMs / step[1];
  return `${value < 10 ? Math.floor(value * 10) / 10 : Math.floor(value)} ${step[0]}`;
}

export function formatAge(atMs: number | undefined, nowMs: number): string {
  return atMs === undefined ? '-' : `${formatLength(nowMs - atMs)} ago`;
}
