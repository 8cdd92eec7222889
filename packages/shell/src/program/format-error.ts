import { toIopError } from '@iop/domain';

/**
 * An error as the one thing a program prints about it. For people: the message, and the stack only
 * where it is a bug. As JSON: one line `{"error":{kind,code,message,details}}`. Never the cause's
 * data, which may hold what a peer sent.
 */
export function formatError(reason: unknown, program: string, json: boolean): string {
  const error = toIopError(reason);
  if (json) {
    const { kind, code, message, details } = error;
    return `${JSON.stringify({ error: { kind, code, message, details } })}\n`;
  }
  if (error.kind !== 'internal') return `${program}: ${error.message}\n`;
  return `${program}: ${error.message}\nThis is a bug in ${program}; please report it with these lines:\n${stackOf(reason)}\n`;
}

function stackOf(reason: unknown): string {
  return reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
}
