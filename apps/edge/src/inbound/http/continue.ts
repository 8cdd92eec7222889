import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { announcedBytes } from './request-body.ts';

/**
 * `Expect: 100-continue`: a caller that asks before it sends a body that would be refused gets the
 * refusal instead of permission. Every other one is told to go on.
 */
export function answerExpectations(server: Server, bodyLimitBytes: number): void {
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    if ((announcedBytes(req) ?? 0) <= bodyLimitBytes) res.writeContinue();
    server.emit('request', req, res);
  });
}
