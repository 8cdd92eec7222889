import {
  CancelRunResponseSchema,
  CreateKeyResponseSchema,
  DeleteRunResponseSchema,
  type DescMessage,
  type JsonValue,
  ListKeysResponseSchema,
  ListNodesResponseSchema,
  ListRunsResponseSchema,
  ListTargetsResponseSchema,
  type MessageShape,
  ReadRunResponseSchema,
  RevokeKeyResponseSchema,
  RunInfoSchema,
  SetKeyResponseSchema,
  StartRunResponseSchema,
  toJson,
  UsageResponseSchema,
  WhyRunResponseSchema,
} from '@iop/wire';
import type { Response } from '../../operator-requests/question.ts';
import type { ApiRoute } from './routes.ts';

type Answer = Exclude<Response, { case: 'failure' | 'watchRun' }>;

const schemas: Readonly<Record<Answer['case'], DescMessage>> = {
  listNodes: ListNodesResponseSchema,
  listTargets: ListTargetsResponseSchema,
  listRuns: ListRunsResponseSchema,
  cancelRun: CancelRunResponseSchema,
  startRun: StartRunResponseSchema,
  readRun: ReadRunResponseSchema,
  whyRun: WhyRunResponseSchema,
  deleteRun: DeleteRunResponseSchema,
  createKey: CreateKeyResponseSchema,
  listKeys: ListKeysResponseSchema,
  setKey: SetKeyResponseSchema,
  revokeKey: RevokeKeyResponseSchema,
  usage: UsageResponseSchema,
};

/** Fields that say nothing are there too, so that an answer has the same shape at all times. */
export function messageJson<S extends DescMessage>(schema: S, message: MessageShape<S>): JsonValue {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}

export function responseJson(
  response: Exclude<Response, { case: 'failure' }>,
  { path }: ApiRoute,
): JsonValue {
  if (response.case === 'watchRun') throw new TypeError('a watch is no answer');
  const [run] = response.case === 'listRuns' && path === 'runs/:id' ? response.value.runs : [];
  if (run !== undefined) return messageJson(RunInfoSchema, run);
  return messageJson(schemas[response.case], response.value);
}
