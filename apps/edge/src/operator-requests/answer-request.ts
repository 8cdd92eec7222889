import { toIopError } from '@iop/domain';
import {
  create,
  ListNodesResponseSchema,
  ListTargetsResponseSchema,
  toFailure,
  UsageGroup,
  type UsageRequest,
  UsageResponseSchema,
} from '@iop/wire';
import type { UsageGroup as GroupName } from '../ports/run-records.ts';
import { createKey, listKeys, revokeKey, setKey } from './key-requests.ts';
import type { Asker, OperatorEdge, Request, Response } from './question.ts';
import { cancelRun, deleteRun, listRuns, readRun, whyRun } from './run-requests.ts';
import { startDetached } from './start-request.ts';
import { toNodeInfo, toTargetInfo, toUsageRow } from './views-to-wire.ts';

/** Answers everything that is one question and one answer. Never rejects. */
export async function answerRequest(edge: OperatorEdge, request: Request, asker: Asker): Promise<Response> {
  try {
    return await answer(edge, request, asker);
  } catch (reason) {
    return { case: 'failure', value: toFailure(toIopError(reason)) };
  }
}

async function answer(edge: OperatorEdge, request: Request, asker: Asker): Promise<Response> {
  switch (request.case) {
    case 'listNodes': {
      const nodes = edge.listNodes().map(toNodeInfo);
      return { case: 'listNodes', value: create(ListNodesResponseSchema, { nodes }) };
    }
    case 'listTargets': {
      const targets = edge.listTargets().map(toTargetInfo);
      return { case: 'listTargets', value: create(ListTargetsResponseSchema, { targets }) };
    }
    case 'createKey':
      return await createKey(edge, request.value);
    case 'listKeys':
      return listKeys(edge);
    case 'setKey':
      return await setKey(edge, request.value);
    case 'revokeKey':
      return await revokeKey(edge, request.value.id);
    case 'usage':
      return await sumUsage(edge, request.value);
    default:
      return await answerOnRuns(edge, request, asker);
  }
}

type RunCase = 'listRuns' | 'cancelRun' | 'readRun' | 'whyRun' | 'deleteRun' | 'startRun';

async function answerOnRuns(
  edge: OperatorEdge,
  request: Extract<Request, { case: RunCase }>,
  asker: Asker,
): Promise<Response> {
  switch (request.case) {
    case 'listRuns':
      return await listRuns(edge, request.value);
    case 'cancelRun':
      return await cancelRun(edge, request.value.runId);
    case 'readRun':
      return await readRun(edge, request.value);
    case 'whyRun':
      return await whyRun(edge, request.value.runId);
    case 'deleteRun':
      return await deleteRun(edge, request.value.runId);
    case 'startRun':
      return await startDetached(edge, request.value, asker);
  }
}

async function sumUsage(edge: OperatorEdge, { since, group }: UsageRequest): Promise<Response> {
  const sinceMs = /^\d+$/.test(since) ? Number(since) : 0;
  const sums = await edge.usage({ group: groups.get(group) ?? 'key', sinceMs });
  return { case: 'usage', value: create(UsageResponseSchema, { rows: sums.map(toUsageRow) }) };
}

const groups: ReadonlyMap<UsageGroup, GroupName> = new Map([
  [UsageGroup.KEY, 'key'],
  [UsageGroup.MODEL, 'model'],
  [UsageGroup.NODE, 'node'],
]);
