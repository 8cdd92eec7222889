import {
  CancelRunRequestSchema,
  CreateKeyRequestSchema,
  create,
  DeleteRunRequestSchema,
  ListKeysRequestSchema,
  ListNodesRequestSchema,
  ListRunsRequestSchema,
  ListTargetsRequestSchema,
  ReadRunRequestSchema,
  RevokeKeyRequestSchema,
  SetKeyRequestSchema,
  UsageRequestSchema,
  WhyRunRequestSchema,
} from '@iop/wire';
import type { Request, Response } from '../../operator-requests/question.ts';
import type { KeyRole } from '../../ports/key-store.ts';
import { ApiCall } from './api-call.ts';
import { groupOf, sinceOf, statesOf } from './query-words.ts';
import { toDetachedStart } from './start-body.ts';

export interface ApiRoute {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below `/api/v1/`; `:id` is one segment. */
  path: string;
  /** The least that a key must be. */
  role: Exclude<KeyRole, 'caller'>;
  /** @throws IopError `invalid`: what is wrong with the query or the body */
  ask(call: ApiCall): Request;
  status?(response: Response): number;
}

const created = (): number => 201;

/** One row a question; its answer is the response of the same name. */
export const apiRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: 'nodes',
    role: 'operator',
    ask: () => ({ case: 'listNodes', value: create(ListNodesRequestSchema) }),
  },
  {
    method: 'GET',
    path: 'targets',
    role: 'operator',
    ask: () => ({ case: 'listTargets', value: create(ListTargetsRequestSchema) }),
  },
  {
    method: 'GET',
    path: 'usage',
    role: 'operator',
    ask: (call) => ({
      case: 'usage',
      value: create(UsageRequestSchema, { since: sinceOf(call), group: groupOf(call) }),
    }),
  },
  {
    method: 'GET',
    path: 'runs',
    role: 'operator',
    ask: (call) => ({
      case: 'listRuns',
      value: create(ListRunsRequestSchema, {
        limit: call.number('limit', 1000),
        states: statesOf(call),
        before: call.text('before'),
      }),
    }),
  },
  {
    method: 'POST',
    path: 'runs',
    role: 'operator',
    ask: (call) => ({ case: 'startRun', value: toDetachedStart(call) }),
    status: (response) => (response.case === 'startRun' && response.value.repeated ? 200 : 201),
  },
  {
    method: 'GET',
    path: 'runs/:id',
    role: 'operator',
    ask: ({ id: runId }) => ({ case: 'listRuns', value: create(ListRunsRequestSchema, { runId }) }),
  },
  {
    method: 'DELETE',
    path: 'runs/:id',
    role: 'operator',
    ask: ({ id: runId }) => ({ case: 'deleteRun', value: create(DeleteRunRequestSchema, { runId }) }),
  },
  {
    method: 'GET',
    path: 'runs/:id/events',
    role: 'operator',
    ask: (call) => ({
      case: 'readRun',
      value: create(ReadRunRequestSchema, {
        runId: call.id,
        afterPos: call.number('after_pos', ApiCall.mostPos),
        limitBytes: call.number('limit_bytes', 256 * 1024),
      }),
    }),
  },
  {
    method: 'GET',
    path: 'runs/:id/why',
    role: 'operator',
    ask: ({ id: runId }) => ({ case: 'whyRun', value: create(WhyRunRequestSchema, { runId }) }),
  },
  {
    method: 'POST',
    path: 'runs/:id/cancel',
    role: 'operator',
    ask: ({ id: runId }) => ({ case: 'cancelRun', value: create(CancelRunRequestSchema, { runId }) }),
  },
  {
    method: 'GET',
    path: 'keys',
    role: 'operator',
    ask: () => ({ case: 'listKeys', value: create(ListKeysRequestSchema) }),
  },
  {
    method: 'POST',
    path: 'keys',
    role: 'admin',
    ask: (call) => ({ case: 'createKey', value: call.message(CreateKeyRequestSchema) }),
    status: created,
  },
  {
    method: 'POST',
    path: 'keys/:id',
    role: 'admin',
    ask: (call) => ({
      case: 'setKey',
      value: { ...call.message(SetKeyRequestSchema), id: call.id },
    }),
  },
  {
    method: 'DELETE',
    path: 'keys/:id',
    role: 'admin',
    ask: ({ id }) => ({ case: 'revokeKey', value: create(RevokeKeyRequestSchema, { id }) }),
  },
];
