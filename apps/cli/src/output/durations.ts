import { IopError } from '@iop/domain';

const unitsMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `90s`, `15m`, `12h`, `30d`, `2w`. */
export function parseLength(text: string, flag: string): number {
  const match = /^(\d{1,6})([smhdw])$/.exec(text);
  const unitMs = unitsMs[match?.[2] ?? ''];
  const count = Number(match?.[1]);
  if (unitMs !== undefined && count > 0) return count * unitMs;
  throw usage(`${flag} takes a length of time such as 12h, 30d or 2w, not ${text}`);
}

/** A moment: a date, or a length of time from now, forwards or backwards. */
export function parseMoment(
  text: string,
  flag: string,
  { nowMs, direction }: { nowMs: number; direction: 1 | -1 },
): number {
  if (!/^\d{4}-/.test(text)) return nowMs + direction * parseLength(text, flag);
  const atMs = Date.parse(text);
  if (Number.isFinite(atMs)) return atMs;
  throw usage(`${flag} takes a date such as 2027-01-31, or a length of time such as 30d, not ${text}`);
}

/** `60/m`: so many in a second, minute, hour or day. */
export function parseRate(text: string, flag: string): { runs: number; perMs: number } {
  const match = /^(\d{1,7})\/([smhd])$/.exec(text);
  const perMs = unitsMs[match?.[2] ?? ''];
  const runs = Number(match?.[1]);
  if (perMs !== undefined && runs > 0) return { runs, perMs };
  throw usage(`${flag} takes runs a second, minute, hour or day, such as 60/m or 1000/d, not ${text}`);
}

export function formatRate({ runs, perMs }: { runs: number; perMs: number }): string {
  const unit = Object.entries(unitsMs).find(([, ms]) => ms === perMs)?.[0];
  return unit === undefined ? `${runs}/${perMs / 1000}s` : `${runs}/${unit}`;
}

function usage(message: string): IopError {
  return new IopError({ kind: 'invalid', code: 'usage', message });
}
