import { toIopError } from '@iop/domain';
import {
  CancelRunResponseSchema,
  CreateKeyResponseSchema,
  create,
  fromWireRunState,
  ListKeysResponseSchema,
  ListNodesResponseSchema,
  type ListRunsRequest,
  ListRunsResponseSchema,
  ListTargetsResponseSchema,
  type OperatorRequest,
  type OperatorResponse,
  RevokeKeyResponseSchema,
  toFailure,
  toWireRunState,
} from '@iop/wire';
import type { Edge } from '../../core/edge.ts';
import { refusal } from './refusals.ts';
import { toKeyInfo, toNodeInfo, toRunInfo, toTargetInfo } from './views-to-wire.ts';

export type Request = Exclude<OperatorRequest['request'], { case: undefined | 'startRun' }>;
export type Response = Exclude<OperatorResponse['response'], { case: undefined }>;

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
    case 'createKey': {
      const { key, secret } = await edge.createKey(request.value.name);
      return { case: 'createKey', value: create(CreateKeyResponseSchema, { key: toKeyInfo(key), secret }) };
    }
    case 'listKeys': {
      const keys = edge.listKeys().map(toKeyInfo);
      return { case: 'listKeys', value: create(ListKeysResponseSchema, { keys }) };
    }
    case 'revokeKey':
      return await revokeKey(edge, request.value.id);
  }
}

const usualRuns = 50;
const mostRuns = 1000;

async function listRuns(edge: Edge, { limit, states, before }: ListRunsRequest): Promise<Response> {
  const records = await edge.listRuns({
    limit: Math.min(mostRuns, limit === 0 ? usualRuns : limit),
    states: states.map(fromWireRunState),
    before: before === '' ? undefined : before,
  });
  return { case: 'listRuns', value: create(ListRunsResponseSchema, { runs: records.map(toRunInfo) }) };
}

async function cancelRun(edge: Edge, runId: string): Promise<Response> {
  const outcome = await edge.cancelRun(runId, 'operator');
  if (outcome.kind === 'unknown-run') {
    const message = `no run ${runId} is known here; \`iop runs\` lists the last ones`;
    return { case: 'failure', value: refusal('not-found', 'run.unknown', message) };
  }
  const state = toWireRunState(outcome.state);
  return { case: 'cancelRun', value: create(CancelRunResponseSchema, { state }) };
}

async function revokeKey(edge: Edge, id: string): Promise<Response> {
  const key = await edge.revokeKey(id);
  if (key === undefined) {
    const message = `no key ${id} is known here; \`iop keys\` lists them`;
    return { case: 'failure', value: refusal('not-found', 'key.unknown', message) };
  }
  return { case: 'revokeKey', value: create(RevokeKeyResponseSchema, { key: toKeyInfo(key) }) };
}
