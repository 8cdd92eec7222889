import {
  CancelRunResponseSchema,
  create,
  DeleteRunResponseSchema,
  fromWireRunState,
  type ListRunsRequest,
  ListRunsResponseSchema,
  type ReadRunRequest,
  ReadRunResponseSchema,
  toWireRunState,
} from '@iop/wire';
import { explainRun, type OwnAt } from '../core/run-why.ts';
import { isOwnEvent } from '../ports/run-log.ts';
import { toRunEventAt } from './event-at.ts';
import type { OperatorEdge, Response } from './question.ts';
import { refusal, storeUnavailable } from './refusals.ts';
import { toRunInfo } from './views-to-wire.ts';
import { toWhy } from './why-to-wire.ts';

const usualRuns = 50;
const mostRuns = 1000;
const usualPageBytes = 64 * 1024;
const mostPageBytes = 256 * 1024;

export async function listRuns(edge: OperatorEdge, request: ListRunsRequest): Promise<Response> {
  const { runId, limit, states, before } = request;
  if (runId !== '') return await findRun(edge, runId);
  const records = await edge.listRuns({
    limit: Math.min(mostRuns, limit === 0 ? usualRuns : limit),
    states: states.map(fromWireRunState),
    before: before === '' ? undefined : before,
  });
  return { case: 'listRuns', value: create(ListRunsResponseSchema, { runs: records.map(toRunInfo) }) };
}

async function findRun(edge: OperatorEdge, runId: string): Promise<Response> {
  const record = await edge.findRun({ runId });
  if (record === undefined) return unknownRun(runId);
  return { case: 'listRuns', value: create(ListRunsResponseSchema, { runs: [toRunInfo(record)] }) };
}

export async function cancelRun(edge: OperatorEdge, runId: string): Promise<Response> {
  const outcome = await edge.cancelRun({ runId }, 'operator');
  if (outcome.kind === 'unknown-run') return unknownRun(runId);
  if (outcome.kind === 'store-unavailable') return failed(storeUnavailable(outcome.detail));
  const state = toWireRunState(outcome.state);
  return { case: 'cancelRun', value: create(CancelRunResponseSchema, { state }) };
}

export async function deleteRun(edge: OperatorEdge, runId: string): Promise<Response> {
  const outcome = await edge.deleteRun({ runId });
  switch (outcome.kind) {
    case 'deleted':
      return { case: 'deleteRun', value: create(DeleteRunResponseSchema) };
    case 'unknown-run':
      return unknownRun(runId);
    case 'store-unavailable':
      return failed(storeUnavailable(outcome.detail));
    case 'not-ended': {
      const message = `the run ${runId} goes on; cancel it first: iop cancel ${runId}`;
      return failed(refusal('conflict', 'run.not-ended', message));
    }
  }
}

export async function readRun(edge: OperatorEdge, request: ReadRunRequest): Promise<Response> {
  const { runId, afterPos, limitBytes } = request;
  const limit = Math.min(mostPageBytes, limitBytes === 0 ? usualPageBytes : limitBytes);
  const read = await edge.readRun({ runId, afterPos, limitBytes: limit });
  if (read === undefined) return unknownRun(runId);
  const { firstPos, events } = read.page;
  const page = create(ReadRunResponseSchema, {
    run: toRunInfo(read.record),
    firstPos,
    events: events.map((event, index) => toRunEventAt(event, firstPos + index)),
  });
  return { case: 'readRun', value: page };
}

export async function whyRun(edge: OperatorEdge, runId: string): Promise<Response> {
  const own = await readOwn(edge, runId);
  const record = await edge.findRun({ runId });
  if (record === undefined) return unknownRun(runId);
  const waiting = edge.whyWaiting(runId);
  return { case: 'whyRun', value: toWhy(explainRun(record, own), { record, waiting }) };
}

/** After the first content there are no further attempts, so all of them are within the first pages. */
const mostPages = 64;

/** What the Edge itself had to say of a run; of a very long one the later changes of its state are left out. */
async function readOwn(edge: OperatorEdge, runId: string): Promise<OwnAt[]> {
  const own: OwnAt[] = [];
  for (let pages = 0, afterPos = 0; pages < mostPages; pages++) {
    const read = await edge.readRun({ runId, afterPos, limitBytes: mostPageBytes });
    const { firstPos, events } = read?.page ?? { firstPos: 0, events: [] };
    for (const [index, event] of events.entries()) {
      if (isOwnEvent(event)) own.push({ pos: firstPos + index, event });
    }
    if (events.length === 0 || events.at(-1)?.kind === 'end') return own;
    afterPos = firstPos + events.length - 1;
  }
  return own;
}

function unknownRun(runId: string): Response {
  return failed(runUnknown(runId));
}

export function runUnknown(runId: string) {
  return refusal(
    'not-found',
    'run.unknown',
    `no run ${runId.slice(0, 64)} is known here; \`iop runs\` lists the last ones`,
  );
}

function failed(value: ReturnType<typeof refusal>): Response {
  return { case: 'failure', value };
}
