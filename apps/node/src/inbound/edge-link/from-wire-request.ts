import { RunClass, type RunRequest } from '@iop/wire';
import type { RunRequest as CoreRequest } from '../../core/run-request.ts';

export function fromWireRequest(request: RunRequest): CoreRequest {
  const { runId, attempt, adapter, target, dialect, stream, includeUsage, deadlineMs, door } = request;
  const core: CoreRequest = {
    runId,
    attempt,
    runClass: request.runClass === RunClass.DETACHED ? 'detached' : 'attached',
    adapter,
    target,
    dialect,
    stream,
    includeUsage,
    body: request.body.length === request.bodySize ? request.body : undefined,
    bodySizeBytes: request.bodySize,
    deadlineMs,
    door,
  };
  if (request.raw !== undefined) core.raw = { path: request.raw.path, contentType: request.raw.contentType };
  return core;
}
