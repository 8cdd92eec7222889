import { RunClass, type StartRunRequest, StartRunRequestSchema } from '@iop/wire';
import { type ApiCall, invalid } from './api-call.ts';

/** Runs that are started here are detached: no connection owns them. */
export function toDetachedStart(call: ApiCall): StartRunRequest {
  const request = call.message(StartRunRequestSchema);
  if (request.runClass === RunClass.ATTACHED) {
    const message = 'a run that is started here is detached; for an attached one use a door under /v1';
    throw invalid('run.attached', message);
  }
  const header = call.exchange.req.headers['idempotency-key'];
  const key = typeof header === 'string' ? header : '';
  return {
    ...request,
    runClass: RunClass.DETACHED,
    idempotencyKey: request.idempotencyKey === '' ? key : request.idempotencyKey,
  };
}
