import type { Clock } from '@iop/domain';
import { createSupervisor, type Link, type LinkMessage, Pump, RunOutbox } from '@iop/link';
import { createIdentityPem, dialTcp, loadIdentity, nodeCrypto } from '@iop/link/tcp';
import {
  CapabilitiesChangedSchema,
  create,
  EdgeNodeEventSchema,
  NodeConfigResultSchema,
  Role,
  RunAcceptedSchema,
  RunEventSchema,
  RunInventorySchema,
  type RunRequest,
  RunState,
} from '@iop/wire';
import { chatAnswer } from '../harness/upstream-act.ts';

export interface FleetNodeInit {
  name: string;
  port: number;
  pin: string;
  token: string;
  clock: Clock;
  /** What happened, for whoever counts. */
  report(event: FleetEvent): void;
}

/** `at` is in milliseconds since 1970, so that several processes can be compared. */
export type FleetEvent =
  | { kind: 'attempt'; node: string; at: number }
  | { kind: 'live'; node: string; at: number; fleetSize: number }
  | { kind: 'executed'; node: string; runId: string; attempt: number };

/**
 * A Node that is only a link and a fake executor: it takes any configuration, offers the mock's `echo`, and
 * answers each run after as many milliseconds as its prompt says.
 */
export async function runFleetNode(init: FleetNodeInit, signal: AbortSignal): Promise<void> {
  const identity = loadIdentity(createIdentityPem());
  const instance = nodeCrypto.randomBytes(16);
  const pump = new Pump(init.clock);
  const runs = new Map<string, RunOutbox>();
  const now = () => performance.timeOrigin + performance.now();
  const supervisor = createSupervisor({
    dial: dialTcp({ host: '127.0.0.1', port: init.port, tls: true, pins: [init.pin] }),
    hello: () => ({
      role: Role.NODE,
      name: init.name,
      instance,
      lastEpoch: 0,
      build: 'fleet',
      openRuns: runs.size,
    }),
    identity,
    pins: [init.pin],
    token: () => init.token,
    crypto: nodeCrypto,
    clock: init.clock,
    random: Math.random,
    onState(state) {
      if (state.kind === 'connecting') init.report({ kind: 'attempt', node: init.name, at: now() });
    },
    onLink(link, { fleetSize }) {
      init.report({ kind: 'live', node: init.name, at: now(), fleetSize });
      pump.attach(link);
      sendInventory(link, runs);
      return {
        onMessage: (message) => receive(message, { init, link, pump, runs }),
        onDrain: () => pump.drained(),
        onClosed: () => pump.detach(),
      };
    },
  });
  await supervisor.run(signal);
}

interface Session {
  init: FleetNodeInit;
  link: Link;
  pump: Pump;
  runs: Map<string, RunOutbox>;
}

function sendInventory(link: Link, runs: ReadonlyMap<string, RunOutbox>): void {
  const entries = [...runs.values()].map((outbox) => ({
    runId: outbox.runId,
    attempt: outbox.attempt,
    state: RunState.RUNNING,
    lastSeq: outbox.lastSeq,
    firstKeptSeq: outbox.firstKeptSeq,
  }));
  link.send({ case: 'runInventory', value: create(RunInventorySchema, { entries }) });
}

function receive(message: LinkMessage, session: Session): void {
  const { link, runs } = session;
  switch (message.case) {
    case 'nodeConfigPayload':
      acceptConfig(link, message.value.revision);
      return;
    case 'runRequest':
      execute(message.value, session);
      return;
    case 'runAck':
      for (const { runId, seq } of message.value.entries) {
        runs.get(runId)?.ack(seq);
        if (runs.get(runId)?.finished === true) runs.delete(runId);
      }
      return;
    case 'runCredit':
      for (const { runId, bytes } of message.value.entries) runs.get(runId)?.grant(bytes);
      return;
    case 'runResume':
      for (const { runId, afterSeq, eventCredit, drop } of message.value.entries) {
        if (drop) runs.delete(runId);
        else runs.get(runId)?.resume(afterSeq, eventCredit);
      }
  }
}

function acceptConfig(link: Link, revision: number): void {
  link.send({
    case: 'nodeConfigResult',
    value: create(NodeConfigResultSchema, { revision, accepted: true }),
  });
  const echo = {
    name: 'mock',
    kind: 'mock',
    healthy: true,
    targets: [{ name: 'echo' }],
    retry: 'before-content',
    sessions: 'portable',
    dialects: ['openai.chat'],
  };
  const value = create(CapabilitiesChangedSchema, { adapters: [echo] });
  link.send({
    case: 'edgeNodeEvent',
    value: create(EdgeNodeEventSchema, { event: { case: 'capabilitiesChanged', value } }),
  });
}

function execute(request: RunRequest, { init, link, pump, runs }: Session): void {
  const { runId, attempt } = request;
  init.report({ kind: 'executed', node: init.name, runId, attempt });
  link.send({ case: 'runAccepted', value: create(RunAcceptedSchema, { runId, attempt }) });
  const outbox = new RunOutbox({ runId, attempt, creditBytes: request.eventCredit, pump });
  runs.set(runId, outbox);
  const body = JSON.parse(Buffer.from(request.body).toString()) as { messages: { content: string }[] };
  init.clock.after(Number(body.messages[0]?.content), () => {
    if (runs.get(runId) !== outbox) return; // dropped meanwhile
    const data = Buffer.from(JSON.stringify(chatAnswer('done')));
    outbox.append(
      create(RunEventSchema, { kind: { case: 'raw', value: { dialect: 'openai.chat', data, more: false } } }),
    );
    const end = { case: 'completed' as const, value: { finishReason: 'stop' } };
    outbox.append(create(RunEventSchema, { kind: { case: 'end', value: { end } } }));
  });
}
