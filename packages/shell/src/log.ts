import { type DestinationStream, destination, type Logger, pino } from 'pino';
import type { LogLevel } from './log-levels.ts';

/** Plain data: a line of JSON. Never a secret; what is named like one is masked all the same. */
export type LogFields = object;

export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** The same log with fields on every line. */
  child(fields: LogFields): Log;
}

export interface LogOptions {
  /** The program: `iop-edge`. */
  name: string;
  level: LogLevel;
  /** Default: stderr, written at once, so that a crash loses nothing. */
  destination?: DestinationStream;
}

const secretNames = ['token', 'secret', 'password', 'apiKey', 'api_key', 'authorization', 'privateKey'];
const secretPaths = secretNames.flatMap((name) => [name, `*.${name}`]);

/** One JSON object a line: `time` (ISO), `level` (word), `name`, the fields, `msg`. */
export function createLog(options: LogOptions): Log {
  const logger = pino(
    {
      name: options.name,
      level: options.level,
      base: { name: options.name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretPaths, censor: '[hidden]' },
    },
    options.destination ?? destination({ fd: 2, sync: true }),
  );
  return toLog(logger);
}

function toLog(logger: Logger): Log {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    child: (fields) => toLog(logger.child(fields)),
  };
}
