import { createHash } from 'node:crypto';
import { isDialect } from '@iop/runtime';
import {
  create,
  type Failure,
  RunClass,
  type StartRunRequest,
  StartRunRequestSchema,
  StartRunResponseSchema,
  toBinary,
} from '@iop/wire';
import type { CreateOutcome, IdempotencyKey, RunCreation, RunIntent } from '../core/door.ts';
import type { Asker, OperatorEdge, Response } from './question.ts';
import { refusal, toStartFailure } from './refusals.ts';

const longestKey = 255;

/** What is wrong with a start, its body being whole. */
export function startProblem(edge: OperatorEdge, request: StartRunRequest): Failure | undefined {
  if (request.adapter === '' || request.target === '') {
    return invalid('run.target-missing', 'a run needs an adapter and a target');
  }
  if (!isDialect(request.dialect)) {
    const message = `no dialect "${request.dialect.slice(0, 40)}" is known here; try openai.chat or iop.prompt`;
    return invalid('run.dialect-unknown', message);
  }
  if (request.body.length > 0 && request.bodyText !== '') {
    return invalid('run.two-bodies', 'give body or body_text, not both');
  }
  if (request.idempotencyKey.length > longestKey) {
    return invalid(
      'idempotency.key-too-long',
      `an idempotency key may have ${longestKey} characters, not ${request.idempotencyKey.length}`,
    );
  }
  const keeps = request.store || request.runClass === RunClass.DETACHED;
  if (!keeps || edge.mayStore()) return undefined;
  const message = 'this Edge keeps no content (history.store: refuse); start it attached and without store';
  return invalid('run.store-refused', message);
}

export function toIntent(request: StartRunRequest, { door, name }: Asker): RunIntent {
  const { adapter, target, node, dialect, stream, includeUsage, deadlineMs, bodyText, store } = request;
  const select = { kind: 'target', adapter, target, ...(node === '' ? {} : { node }) } as const;
  return {
    door,
    keyId: name,
    select,
    dialect: isDialect(dialect) ? dialect : 'iop.prompt',
    body: bodyText === '' ? request.body : new TextEncoder().encode(bodyText),
    stream,
    includeUsage,
    ...(store ? { stored: true } : {}),
    ...(deadlineMs === 0 ? {} : { deadlineMs }),
  };
}

export function toCreation(request: StartRunRequest, asker: Asker): RunCreation {
  const runClass = request.runClass === RunClass.DETACHED ? 'detached' : 'attached';
  const intent = { ...toIntent(request, asker), runClass } as const;
  return request.idempotencyKey === '' ? intent : { ...intent, idempotency: idempotencyOf(request) };
}

/** Everything that was asked for is part of what must be the same. */
function idempotencyOf(request: StartRunRequest): IdempotencyKey {
  const { $typeName, $unknown, idempotencyKey, ...asked } = request;
  const bytes = toBinary(StartRunRequestSchema, create(StartRunRequestSchema, { ...asked, bodySize: 0 }));
  return { key: idempotencyKey, bodyHash: createHash('sha256').update(bytes).digest('hex') };
}

export async function startDetached(
  edge: OperatorEdge,
  request: StartRunRequest,
  asker: Asker,
): Promise<Response> {
  const problem = startProblem(edge, request);
  if (problem !== undefined) return { case: 'failure', value: problem };
  return toStarted(await edge.create(toCreation(request, asker)));
}

export function toStarted(outcome: CreateOutcome): Response {
  if (outcome.kind !== 'created' && outcome.kind !== 'repeated')
    return { case: 'failure', value: toStartFailure(outcome) };
  const { runId, kind } = outcome;
  return {
    case: 'startRun',
    value: create(StartRunResponseSchema, { runId, repeated: kind === 'repeated' }),
  };
}

function invalid(code: string, message: string): Failure {
  return refusal('invalid', code, message);
}
