import { create, RunClass, type StartRunRequest, StartRunRequestSchema } from '@iop/wire';
import type { RunOrder } from './started-run.ts';

export const runClasses = { attached: RunClass.ATTACHED, detached: RunClass.DETACHED } as const;

/** What one message carries of a body. */
const partBytes = 64 * 1024;

export function toStartRequest(order: RunOrder, runClass: RunClass): StartRunRequest {
  const { adapter, target, dialect, body, stream } = order;
  return create(StartRunRequestSchema, {
    adapter,
    target,
    node: order.node ?? '',
    dialect,
    body,
    stream,
    includeUsage: order.includeUsage ?? false,
    runClass,
    deadlineMs: order.deadlineMs ?? 0,
    idempotencyKey: order.idempotencyKey ?? '',
    store: order.store ?? false,
  });
}

/** The request with as much of the body as fits, and the rest. */
export function splitBody(whole: StartRunRequest): { request: StartRunRequest; parts: Uint8Array[] } {
  const { body } = whole;
  if (body.length <= partBytes) return { request: whole, parts: [] };
  const parts: Uint8Array[] = [];
  for (let at = partBytes; at < body.length; at += partBytes) parts.push(body.subarray(at, at + partBytes));
  return { request: { ...whole, body: body.subarray(0, partBytes), bodySize: body.length }, parts };
}
