import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const sane = /^[A-Za-z0-9._:~/+=-]{1,128}$/;

/** The caller's own `x-request-id` when it is harmless in a header and a log line, else a new one. */
export function createRequestIds(): (req: IncomingMessage) => string {
  // Unique by a random word per process and a count: no randomness is bought per request.
  const prefix = `req_${randomBytes(6).toString('hex')}`;
  let count = 0;
  return (req) => {
    const given = req.headers['x-request-id'];
    if (typeof given === 'string' && sane.test(given)) return given;
    count += 1;
    return prefix + count.toString(36).padStart(6, '0');
  };
}
