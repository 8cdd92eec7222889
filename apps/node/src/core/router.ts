import type { RunFailure } from '@iop/domain';
import { type ExecutionSpec, isDialect } from '@iop/runtime';
import type { AdapterInstance, AdapterRegistry } from './adapter-registry.ts';
import { failure, type RunRequest } from './run-request.ts';

export type Resolution =
  | { kind: 'resolved'; spec: ExecutionSpec; instance: AdapterInstance }
  | { kind: 'refused'; failure: RunFailure };

/** Finds what executes a request: adapter + target → ExecutionSpec. */
export interface Router {
  resolve(request: RunRequest, body: Uint8Array): Resolution;
}

export function createRouter(registry: AdapterRegistry): Router {
  return { resolve: (request, body) => resolve(registry, request, body) };
}

function resolve(registry: AdapterRegistry, request: RunRequest, body: Uint8Array): Resolution {
  const { adapter, target, dialect } = request;
  const instance = registry.get(adapter);
  if (instance === undefined) {
    // The Edge's picture is older than the configuration: another Node may still have it.
    const message = `adapter ${adapter} is not configured on this Node`;
    return { kind: 'refused', failure: failure('not-found', 'adapter.unknown', message, true) };
  }
  if (!isDialect(dialect) || !instance.adapter.dialects.includes(dialect)) {
    const takes = instance.adapter.dialects.join(', ');
    const message = `adapter ${adapter} does not take ${dialect || 'a request without dialect'}; it takes ${takes}`;
    return { kind: 'refused', failure: failure('unsupported', 'adapter.dialect', message) };
  }
  const { runId, attempt, stream, includeUsage, raw } = request;
  const spec: ExecutionSpec = { runId, attempt, adapter, target, dialect, body, stream, includeUsage };
  if (raw !== undefined) spec.raw = raw;
  return { kind: 'resolved', spec, instance };
}
