import type { RunEnd } from '@iop/domain';
import {
  type AttemptOutcome,
  attemptLink,
  BodyReceiver,
  type Dial,
  type Identity,
  Ledger,
  type Link,
  type LinkHandlers,
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
  type Welcome,
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
  return new ScriptedNode(options);
}

type Handlers = { [C in LinkMessage['case']]?: (value: Extract<LinkMessage, { case: C }>['value']) => void };

class ScriptedNode implements WireNode {
  readonly name: string;
  readonly identity: Identity;
  readonly received: LinkMessage[] = [];
  runs: WireRun[] = [];
  closed: string | undefined;
  readonly #options: WireNodeOptions;
  readonly #ledger = new Ledger(clock);
  readonly #pump = new Pump(clock);
  readonly #bodies = new Map<string, BodyReceiver>();
  #instance: Uint8Array;
  #lastEpoch = 0;
  #link: Link | undefined;

  constructor(options: WireNodeOptions) {
    this.#options = options;
    this.name = options.name;
    this.identity = options.identity ?? loadIdentity(createIdentityPem());
    this.#instance = options.instance ?? nodeCrypto.randomBytes(16);
  }

  link({ silent = false }: { silent?: boolean } = {}): Promise<AttemptOutcome> {
    this.closed = undefined;
    const { name, token } = this.#options;
    const dialling = {
      ...this.#options,
      identity: this.identity,
      crypto: nodeCrypto,
      clock,
      token: () => token,
      hello: () => ({
        role: Role.NODE,
        name,
        instance: this.#instance,
        lastEpoch: this.#lastEpoch,
        build: 'wire-node',
      }),
      onLink: (link: Link, welcome: Welcome) => this.#open(link, welcome, silent),
    };
    return attemptLink(dialling, AbortSignal.timeout(20_000));
  }

  cut(): void {
    this.#link?.destroy('cut by the test');
  }

  restart(): void {
    this.#link?.destroy('restarted by the test');
    this.runs = [];
    this.#instance = nodeCrypto.randomBytes(16);
  }

  send(message: LinkMessage): void {
    this.#link?.send(message);
  }

  #open(link: Link, welcome: Welcome, silent: boolean): LinkHandlers {
    this.#link = link;
    this.#lastEpoch = welcome.epoch;
    this.#ledger.attach(link);
    this.#pump.attach(link);
    if (!silent) link.send(inventoryOf(this.runs, this.#bodies));
    return {
      onMessage: (message) => {
        this.received.push(message);
        if (!silent) (this.#handlers[message.case] as Handle | undefined)?.(message.value);
      },
      onDrain: () => this.#pump.drained(),
      onClosed: (why) => {
        this.closed = why.kind;
        if (this.#link !== link) return;
        this.#ledger.detach();
        this.#pump.detach();
      },
    };
  }

  readonly #handlers: Handlers = {
    runRequest: (request) => this.#take(request),
    nodeConfigPayload: ({ revision }) => this.#answerConfig(revision),
    runBody: (part) => {
      const step = this.#bodies.get(part.runId)?.receive(part);
      const run = this.#find(part);
      if (step?.kind === 'complete' && run !== undefined) run.body = step.body;
    },
    cancelRequest: (cancel) => {
      const run = this.#find(cancel);
      if (run !== undefined) run.cancelledBy = cancel.by;
    },
    runAck: ({ entries }) => {
      for (const each of entries) this.#find(each)?.outbox.ack(each.seq);
    },
    runCredit: ({ entries }) => {
      for (const each of entries) this.#find(each)?.outbox.grant(each.bytes);
    },
    runResume: ({ entries }) => {
      const dropped = new Set(entries.filter((each) => each.drop).map((each) => this.#find(each)));
      this.runs = this.runs.filter((run) => !dropped.has(run));
      for (const each of entries) this.#find(each)?.outbox.resume(each.afterSeq, each.eventCredit);
    },
  };

  #take(request: RunRequest): void {
    const { runId, attempt, eventCredit: creditBytes } = request;
    const outbox = new RunOutbox({ runId, attempt, creditBytes, pump: this.#pump });
    const run = createWireRun(request, outbox, (answer) => this.send(answer));
    this.runs.push(run);
    const receiver = new BodyReceiver({ request, ledger: this.#ledger });
    this.#bodies.set(runId, receiver);
    const step = receiver.begin();
    if (step.kind === 'complete') run.body = step.body;
  }

  #find({ runId, attempt }: { runId: string; attempt: number }): WireRun | undefined {
    return this.runs.find(({ request }) => request.runId === runId && request.attempt === attempt);
  }

  #answerConfig(revision: number): void {
    const problems = this.#options.accepts?.(revision) ?? [];
    const accepted = problems.length === 0;
    const value = create(NodeConfigResultSchema, { revision, accepted, problems });
    this.send({ case: 'nodeConfigResult', value });
    if (accepted) this.send(capabilities(this.#options.adapter ?? {}));
  }
}

type Handle = (value: LinkMessage['value']) => void;

const clock = createSystemClock();

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
