import { z } from 'zod';
import { logLevels } from '../log-levels.ts';
import { formatDuration, formatSize, parseDuration, parseSize } from './units.ts';

/** "300ms", "15s", "2m", "1h", "7d", or 0; gives milliseconds. */
export const durationMs = z
  .unknown()
  .transform((value, context): number => {
    const parsed = parseDuration(value);
    if (parsed !== undefined) return parsed;
    return refuse(context, value, 'a duration such as 300ms, 15s or 2m');
  })
  .meta({ unit: 'duration' });

/** "64KiB", "32MiB", "1GiB", or a number of bytes; gives bytes. */
export const sizeBytes = z
  .unknown()
  .transform((value, context): number => {
    const parsed = parseSize(value);
    if (parsed !== undefined) return parsed;
    return refuse(context, value, 'a size such as 64KiB, 32MiB or a number of bytes');
  })
  .meta({ unit: 'size' });

export interface HostPort {
  host: string;
  port: number;
}

/** "127.0.0.1:7400", "edge.lan:7400", "[::1]:7400". */
export const hostPort = z
  .unknown()
  .transform((value, context): HostPort => {
    const parsed = parseHostPort(value);
    if (parsed !== undefined) return parsed;
    return refuse(context, value, 'host:port such as 127.0.0.1:7400 or [::1]:7400');
  })
  .meta({ unit: 'host:port' });

export const port = z.int().min(0).max(65_535).describe('A TCP port; 0: any free one.');

/** A part of a configuration whose keys all have defaults, so that it may be left out. */
export function section<T extends z.core.$ZodLooseShape>(keys: T) {
  return z.strictObject(keys).prefault({} as never);
}

/** `log:` of every program. */
export const logSection = section({
  level: z.enum(logLevels).default('info').describe('Lines below it are not written.'),
});

export function parseHostPort(value: unknown): HostPort | undefined {
  if (typeof value !== 'string') return undefined;
  const match = /^(?:\[([0-9a-f:.%a-z]+)\]|([^:[\]\s/]+)):(\d{1,5})$/i.exec(value);
  const host = match?.[1] ?? match?.[2];
  const portNumber = Number(match?.[3]);
  if (host === undefined || portNumber > 65_535) return undefined;
  return { host, port: portNumber };
}

function refuse(context: z.core.$RefinementCtx, input: unknown, expected: string): never {
  context.addIssue({ code: 'custom', message: `expected ${expected}`, input });
  return z.NEVER;
}

/** A value in the words of the file, by the unit of its key. */
export function formatValue(value: unknown, unit: string | undefined): string {
  if (unit === 'duration' && typeof value === 'number') return formatDuration(value);
  if (unit === 'size' && typeof value === 'number') return formatSize(value);
  if (unit === 'host:port' && typeof value === 'object' && value !== null) {
    const { host, port: number } = value as HostPort;
    return host.includes(':') ? `[${host}]:${number}` : `${host}:${number}`;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}
