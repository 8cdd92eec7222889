import { toIopError } from '@iop/domain';
import {
  CancelRunResponseSchema,
  create,
  fromWireRunState,
  ListNodesResponseSchema,
  type ListRunsRequest,
  ListRunsResponseSchema,
  ListTargetsResponseSchema,
  toFailure,
  toWireRunState,
  UsageGroup,
  type UsageRequest,
  UsageResponseSchema,
} from '@iop/wire';
import type { Edge } from '../../core/edge.ts';
import type { UsageGroup as GroupName } from '../../ports/run-records.ts';
import { createKey, listKeys, revokeKey, setKey } from './key-requests.ts';
import type { Request, Response } from './question.ts';
import { refusal } from './refusals.ts';
import { toNodeInfo, toRunInfo, toTargetInfo, toUsageRow } from './views-to-wire.ts';

/** Answers everything that is one question and one answer. Never rejects. */
export async function answerRequest(edge: Edge, request: Request): Promise<Response> {
  try {
    return await answer(edge, request);
  } catch (reason) {
    return { case: 'failure', value: toFailure(toIopError(reason)) };
  }
}

async function answer(edge: Edge, request: Request): Promise<Response> {
  switch (request.case) {
    case 'listNodes': {
      const nodes = edge.listNodes().map(toNodeInfo);
      return { case: 'listNodes', value: create(ListNodesResponseSchema, { nodes }) };
    }
    case 'listTargets': {
      const targets = edge.listTargets().map(toTargetInfo);
      return { case: 'listTargets', value: create(ListTargetsResponseSchema, { targets }) };
    }
    case 'listRuns':
      return await listRuns(edge, request.value);
    case 'cancelRun':
      return await cancelRun(edge, request.value.runId);
    case 'createKey':
      return await createKey(edge, request.value);
    case 'listKeys':
      return listKeys(edge);
    case 'setKey':
      return await setKey(edge, request.value);
    case 'usage':
      return await sumUsage(edge, request.value);
    case 'revokeKey':
      return await revokeKey(edge, request.value.id);
  }
}

const usualRuns = 50;
const mostRuns = 1000;

async function listRuns(edge: Edge, request: ListRunsRequest): Promise<Response> {
  if (request.runId !== '') return await findRun(edge, request.runId);
  const { limit, states, before } = request;
  const records = await edge.listRuns({
    limit: Math.min(mostRuns, limit === 0 ? usualRuns : limit),
    states: states.map(fromWireRunState),
    before: before === '' ? undefined : before,
  });
  return { case: 'listRuns', value: create(ListRunsResponseSchema, { runs: records.map(toRunInfo) }) };
}

async function findRun(edge: Edge, runId: string): Promise<Response> {
  const record = await edge.findRun({ runId });
  if (record === undefined) return unknownRun(runId);
  return { case: 'listRuns', value: create(ListRunsResponseSchema, { runs: [toRunInfo(record)] }) };
}

function unknownRun(runId: string): Response {
  const message = `no run ${runId} is known here; \`iop runs\` lists the last ones`;
  return { case: 'failure', value: refusal('not-found', 'run.unknown', message) };
}

async function cancelRun(edge: Edge, runId: string): Promise<Response> {
  const outcome = await edge.cancelRun({ runId }, 'operator');
  if (outcome.kind === 'unknown-run') return unknownRun(runId);
  if (outcome.kind === 'store-unavailable') {
    const message = `the cancel of ${runId} could not be committed: ${outcome.detail}; ask again`;
    return { case: 'failure', value: refusal('unavailable', 'store.unavailable', message) };
  }
  const state = toWireRunState(outcome.state);
  return { case: 'cancelRun', value: create(CancelRunResponseSchema, { state }) };
}

async function sumUsage(edge: Edge, { since, group }: UsageRequest): Promise<Response> {
  const sinceMs = /^\d+$/.test(since) ? Number(since) : 0;
  const sums = await edge.usage({ group: groups.get(group) ?? 'key', sinceMs });
  return { case: 'usage', value: create(UsageResponseSchema, { rows: sums.map(toUsageRow) }) };
}

const groups: ReadonlyMap<UsageGroup, GroupName> = new Map([
  [UsageGroup.KEY, 'key'],
  [UsageGroup.MODEL, 'model'],
  [UsageGroup.NODE, 'node'],
]);
