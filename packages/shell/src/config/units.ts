const millisecondsOf: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const bytesOf: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
};

/** A bare number has no unit and is refused, except 0. */
export function parseDuration(value: unknown): number | undefined {
  if (value === 0 || value === '0') return 0;
  return parseWithUnit(value, millisecondsOf);
}

export function parseSize(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  if (typeof value === 'string' && /^\d+$/.test(value)) return Number(value);
  return parseWithUnit(value, bytesOf);
}

export function formatDuration(valueMs: number): string {
  return formatWithUnit(valueMs, millisecondsOf, 'ms');
}

export function formatSize(bytes: number): string {
  return formatWithUnit(bytes, bytesOf, 'B');
}

function parseWithUnit(value: unknown, factors: Readonly<Record<string, number>>): number | undefined {
  if (typeof value !== 'string') return undefined;
  const match = /^(\d+(?:\.\d+)?)\s*([A-Za-z]+)$/.exec(value.trim());
  const factor = factors[match?.[2] ?? ''];
  if (match === null || factor === undefined) return undefined;
  const result = Math.round(Number(match[1]) * factor);
  return Number.isSafeInteger(result) ? result : undefined;
}

/** In the largest unit that divides it. */
function formatWithUnit(value: number, factors: Readonly<Record<string, number>>, smallest: string): string {
  if (value === 0) return '0';
  let best = smallest;
  for (const [unit, factor] of Object.entries(factors)) {
    if (value % factor === 0 && factor > (factors[best] ?? 1)) best = unit;
  }
  return `${value / (factors[best] ?? 1)}${best}`;
}
