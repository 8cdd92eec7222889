import { toIopError } from '@iop/domain';
import type { Link } from '@iop/link';
import {
  CapabilitiesResultSchema,
  create,
  DoneResultSchema,
  type NodeCommandRequest,
  type NodeCommandResponse,
  NodeCommandResponseSchema,
  RunInventoryEntrySchema,
  SessionInfoSchema,
  SessionsResultSchema,
  StatusResultSchema,
  TransportResultSchema,
  toFailure,
  toWireRunState,
} from '@iop/wire';
import type { Node } from '../../core/node.ts';
import type { NodeCommand, NodeCommandResult, NodeStatus } from '../../core/node-command.ts';
import { toWireReports } from './to-wire-report.ts';

type WireResult = NodeCommandResponse['result'];

/** Answers one NodeCommandRequest; never throws. */
export async function answerCommand(
  request: NodeCommandRequest,
  { node, link, signal }: { node: Node; link: Link; signal: AbortSignal },
): Promise<NodeCommandResponse> {
  const { commandId } = request;
  try {
    return create(NodeCommandResponseSchema, {
      commandId,
      result: await resultOf(request, node, link, signal),
    });
  } catch (reason) {
    return create(NodeCommandResponseSchema, { commandId, result: failed(toIopError(reason)) });
  }
}

async function resultOf(
  { command }: NodeCommandRequest,
  node: Node,
  link: Link,
  signal: AbortSignal,
): Promise<WireResult> {
  if (command.case === 'transport') return transportOf(link);
  const asked = toCommand(command);
  if (asked !== undefined) return toWireResult(await node.onCommandRequest(asked, signal));
  const message = 'this version of iop-node does not know the command; update it';
  return failed({ kind: 'unsupported', code: 'command.unknown', message, details: {} });
}

function toCommand(command: NodeCommandRequest['command']): NodeCommand | undefined {
  switch (command.case) {
    case 'capabilities':
    case 'status':
    case 'sessions':
    case 'resume':
      return { kind: command.case };
    case 'terminateSession':
      return { kind: 'terminate-session', sessionId: command.value.sessionId };
    case 'drain':
      return { kind: 'drain', deadlineMs: command.value.deadlineMs };
    default:
      return undefined;
  }
}

function toWireResult(result: NodeCommandResult): WireResult {
  switch (result.kind) {
    case 'capabilities': {
      const adapters = toWireReports(result.adapters);
      return { case: 'capabilities', value: create(CapabilitiesResultSchema, { adapters }) };
    }
    case 'status':
      return { case: 'status', value: create(StatusResultSchema, statusFields(result.status)) };
    case 'sessions': {
      const sessions = result.sessions.map((session) => create(SessionInfoSchema, session));
      return { case: 'sessions', value: create(SessionsResultSchema, { sessions }) };
    }
    case 'done':
      return { case: 'done', value: create(DoneResultSchema) };
    case 'failed':
      return failed(result.failure);
  }
}

function statusFields({ configRevision, draining, runs }: NodeStatus) {
  return {
    configRevision,
    draining,
    rssKib: Math.round(process.memoryUsage.rss() / 1024),
    runs: runs.map(({ runId, attempt, isStopping }) => {
      const state = toWireRunState(isStopping ? 'stopping' : 'running');
      return create(RunInventoryEntrySchema, { runId, attempt, state });
    }),
  };
}

function transportOf(link: Link): WireResult {
  const { transport, epoch } = link.peer;
  const fields = { kind: transport.kind, epoch, roundTripUs: link.roundTripUs ?? 0 };
  return { case: 'transport', value: create(TransportResultSchema, fields) };
}

function failed(facts: Parameters<typeof toFailure>[0]): WireResult {
  return { case: 'failure', value: toFailure(facts) };
}
