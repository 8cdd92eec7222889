import type { RunEnd } from '@iop/domain';
import {
  type AttemptOutcome,
  attemptLink,
  BodyReceiver,
  type Dial,
  type Identity,
  Ledger,
  type Link,
  type LinkMessage,
  Pump,
  RunOutbox,
} from '@iop/link';
import { createIdentityPem, loadIdentity, nodeCrypto } from '@iop/link/tcp';
import { createSystemClock } from '@iop/shell';
import {
  AdapterCapabilitiesSchema,
  CapabilitiesChangedSchema,
  create,
  EdgeNodeEventSchema,
  NodeConfigResultSchema,
  RawEventSchema,
  Role,
  type RunEvent,
  RunEventSchema,
  RunInventoryEntrySchema,
  RunInventorySchema,
  type RunRequest,
  RunState,
  TargetCapabilitiesSchema,
  toEndEvent,
} from '@iop/wire';

/** A Node as the Edge sees it, on a real socket, that does what a test says. */
export interface WireNode {
  readonly name: string;
  readonly identity: Identity;
  /** Everything that the Edge sent on any link, oldest first. */
  readonly received: LinkMessage[];
  readonly runs: WireRun[];
  /** Links once; ready when it resolves with `linked`, unless `silent`. */
  link(options?: { silent?: boolean }): Promise<AttemptOutcome>;
  /** Cuts the socket without a word. */
  cut(): void;
  /** Another process of the same Node: its runs are gone. */
  restart(): void;
  send(message: LinkMessage): void;
  readonly closed: string | undefined;
}

export interface WireRun {
  readonly request: RunRequest;
  readonly outbox: RunOutbox;
  /** The whole body, when it is here. */
  body: Uint8Array | undefined;
  cancelledBy: string | undefined;
  accept(): void;
  say(text: string): void;
  end(end: RunEnd): void;
}

export interface WireNodeOptions {
  name: string;
  dial: Dial;
  pins: readonly string[];
  token: string;
  identity?: Identity;
  instance?: Uint8Array;
  /** Of its one adapter. */
  adapter?: { name?: string; targets?: string[]; retry?: string };
  accepts?: (revision: number) => string[];
}

export function createWireNode(options: WireNodeOptions): WireNode {
  const clock = createSystemClock();
  const identity = options.identity ?? loadIdentity(createIdentityPem());
  const ledger = new Ledger(clock);
  const pump = new Pump(clock);
  const received: LinkMessage[] = [];
  const bodies = new Map<string, BodyReceiver>();
  let runs: WireRun[] = [];
  let instance = options.instance ?? nodeCrypto.randomBytes(16);
  let lastEpoch = 0;
  let link: Link | undefined;
  let closed: string | undefined;

  function open(request: RunRequest): void {
    const { runId, attempt, eventCredit: creditBytes } = request;
    const outbox = new RunOutbox({ runId, attempt, creditBytes, pump });
    const run = createWireRun(request, outbox, (answer) => link?.send(answer));
    runs.push(run);
    const receiver = new BodyReceiver({ request, ledger });
    bodies.set(runId, receiver);
    const step = receiver.begin();
    if (step.kind === 'complete') run.body = step.body;
  }

  const handlers: {
    [C in LinkMessage['case']]?: (value: Extract<LinkMessage, { case: C }>['value']) => void;
  } = {
    runRequest: open,
    nodeConfigPayload: ({ revision }) => answerConfig(revision),
    runBody(part) {
      const step = bodies.get(part.runId)?.receive(part);
      const run = find(part);
      if (step?.kind === 'complete' && run !== undefined) run.body = step.body;
    },
    cancelRequest(cancel) {
      const run = find(cancel);
      if (run !== undefined) run.cancelledBy = cancel.by;
    },
    runAck: ({ entries }) => entries.forEach((each) => void find(each)?.outbox.ack(each.seq)),
    runCredit: ({ entries }) => entries.forEach((each) => void find(each)?.outbox.grant(each.bytes)),
    runResume({ entries }) {
      const dropped = new Set(entries.filter((each) => each.drop).map((each) => find(each)));
      runs = runs.filter((run) => !dropped.has(run));
      for (const each of entries) find(each)?.outbox.resume(each.afterSeq, each.eventCredit);
    },
  };

  function receive(message: LinkMessage): void {
    received.push(message);
    (handlers[message.case] as ((value: LinkMessage['value']) => void) | undefined)?.(message.value);
  }

  function find({ runId, attempt }: { runId: string; attempt: number }): WireRun | undefined {
    return runs.find(({ request }) => request.runId === runId && request.attempt === attempt);
  }

  function answerConfig(revision: number): void {
    const problems = options.accepts?.(revision) ?? [];
    const accepted = problems.length === 0;
    const value = create(NodeConfigResultSchema, { revision, accepted, problems });
    link?.send({ case: 'nodeConfigResult', value });
    if (accepted) link?.send(capabilities(options.adapter ?? {}));
  }

  return {
    name: options.name,
    identity,
    received,
    get runs() {
      return runs;
    },
    async link({ silent = false } = {}) {
      closed = undefined;
      const outcome = await attemptLink(
        {
          ...options,
          identity,
          crypto: nodeCrypto,
          clock,
          token: () => options.token,
          hello: () => ({ role: Role.NODE, name: options.name, instance, lastEpoch, build: 'wire-node' }),
          onLink(opened, welcome) {
            link = opened;
            lastEpoch = welcome.epoch;
            ledger.attach(opened);
            pump.attach(opened);
            if (!silent) opened.send(inventoryOf(runs, bodies));
            return {
              onMessage: (message) => (silent ? received.push(message) : receive(message)),
              onDrain: () => pump.drained(),
              onClosed(why) {
                closed = why.kind;
                if (link !== opened) return;
                ledger.detach();
                pump.detach();
              },
            };
          },
        },
        AbortSignal.timeout(20_000),
      );
      return outcome;
    },
    cut() {
      link?.destroy('cut by the test');
    },
    restart() {
      link?.destroy('restarted by the test');
      runs = [];
      instance = nodeCrypto.randomBytes(16);
    },
    send: (message) => link?.send(message),
    get closed() {
      return closed;
    },
  };
}

function createWireRun(
  request: RunRequest,
  outbox: RunOutbox,
  send: (message: LinkMessage) => void,
): WireRun {
  const { runId, attempt } = request;
  return {
    request,
    outbox,
    body: undefined,
    cancelledBy: undefined,
    accept: () =>
      send({ case: 'runAccepted', value: { $typeName: 'iop.wire.v1.RunAccepted', runId, attempt } }),
    say: (text) => void outbox.append(rawRunEvent(text)),
    end: (end) => void outbox.append(endRunEvent(end)),
  };
}

export function rawRunEvent(text: string): RunEvent {
  const value = create(RawEventSchema, { dialect: 'openai.chat', data: new TextEncoder().encode(text) });
  return create(RunEventSchema, { kind: { case: 'raw', value } });
}

export function endRunEvent(end: RunEnd): RunEvent {
  return create(RunEventSchema, { kind: { case: 'end', value: toEndEvent(end) } });
}

export function capabilities({
  name = 'mock',
  targets = ['echo'],
  retry = 'before-content',
}: NonNullable<WireNodeOptions['adapter']>): LinkMessage {
  const adapter = create(AdapterCapabilitiesSchema, {
    name,
    kind: 'mock',
    healthy: true,
    retry,
    sessions: 'portable',
    dialects: ['openai.chat', 'iop.prompt'],
    targets: targets.map((target) => create(TargetCapabilitiesSchema, { name: target })),
  });
  const value = create(CapabilitiesChangedSchema, { adapters: [adapter] });
  return {
    case: 'edgeNodeEvent',
    value: create(EdgeNodeEventSchema, { event: { case: 'capabilitiesChanged', value } }),
  };
}

function inventoryOf(runs: readonly WireRun[], bodies: ReadonlyMap<string, BodyReceiver>): LinkMessage {
  const entries = runs
    .filter(({ outbox }) => !outbox.finished)
    .map(({ request, outbox }) =>
      create(RunInventoryEntrySchema, {
        runId: request.runId,
        attempt: request.attempt,
        state: outbox.ended ? RunState.COMPLETED : RunState.RUNNING,
        lastSeq: outbox.lastSeq,
        firstKeptSeq: outbox.firstKeptSeq,
        bodyReceived: bodies.get(request.runId)?.received ?? 0,
      }),
    );
  return { case: 'runInventory', value: create(RunInventorySchema, { entries }) };
}
