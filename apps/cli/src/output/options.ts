import { IopError } from '@iop/domain';

/** The value of an option that takes one; undefined: not given. */
export function textOption(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A whole number within bounds, or a usage error that names the flag. */
export function numberOption(
  value: string | boolean | undefined,
  flag: string,
  [min, max]: readonly [number, number],
): number {
  const number = Number(value);
  if (typeof value === 'string' && /^\d+$/.test(value) && number >= min && number <= max) return number;
  const message = `${flag} takes a whole number from ${min} to ${max}, not ${String(value)}`;
  throw new IopError({ kind: 'invalid', code: 'usage', message });
}
