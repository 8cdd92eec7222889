import {
  createSupervisor,
  type DialOptions,
  type HelloInfo,
  Ledger,
  type Link,
  type LinkHandlers,
  type LinkMessage,
  type LinkOutcome,
  Pump,
  type SupervisorState,
} from '@iop/link';
import {
  CapabilitiesChangedSchema,
  create,
  DrainChangedSchema,
  type EdgeNodeEvent,
  EdgeNodeEventSchema,
  type NodeCommandRequest,
  type NodeConfigPayload,
  NodeConfigResultSchema,
  ProtocolErrorSchema,
  Role,
  type Welcome,
} from '@iop/wire';
import type { AdapterLoad, AdapterReport } from '../../core/adapter-report.ts';
import { CapabilityWatch } from '../../core/capability-watch.ts';
import type { Node } from '../../core/node.ts';
import type { EndStore } from '../../ports/end-store.ts';
import type { EpochStore } from '../../ports/epoch-store.ts';
import type { Log } from '../../ports/log.ts';
import { answerCommand } from './command-desk.ts';
import { fromWireConfig } from './from-wire-config.ts';
import { LinkLog } from './link-log.ts';
import { RunDesk } from './run-desk.ts';
import { toWireLoads, toWireReports } from './to-wire-report.ts';

export interface EdgeLinkOptions extends Omit<DialOptions, 'hello' | 'onLink'> {
  node: Node;
  log: Log;
  epochs: EpochStore;
  ends: EndStore;
  /** Who this Node is; `instance`: 16 random bytes of this process. */
  self: { name: string; instance: Uint8Array; build: string; labels: Readonly<Record<string, string>> };
  /** Uniform in [0, 1). */
  random(): number;
  /** How often adapters are asked what they can do. */
  capabilityIntervalMs?: number;
}

export interface EdgeLink {
  /** Keeps a link to the Edge until `signal` fires, then says Goodbye; runs go on meanwhile. */
  run(signal: AbortSignal): Promise<void>;
  /** Ends of detached runs are on the disk; resolves when the Edge has acked all ends, or after `limitMs`. */
  settled(limitMs: number): Promise<void>;
}

/**
 * Drives the core from the wire: what a message means is decided here, what is done about it there.
 *
 * E1: after Welcome the first message is RunInventory, however empty.
 * E2: the Edge hears of capabilities after every configuration it sends, and whenever they change.
 * E3: runs outlive links: outboxes and bodies stay, what pumps them is attached to the link there is.
 */
export function createEdgeLink(options: EdgeLinkOptions): EdgeLink {
  return new NodeEdgeLink(options);
}

class NodeEdgeLink implements EdgeLink {
  readonly #options: EdgeLinkOptions;
  readonly #pump: Pump;
  readonly #ledger: Ledger;
  readonly #desk: RunDesk;
  readonly #watch: CapabilityWatch;
  readonly #linkLog: LinkLog;
  #link: Link | undefined;

  constructor(options: EdgeLinkOptions) {
    const { node, clock, log, ends } = options;
    this.#options = options;
    this.#pump = new Pump(clock);
    this.#ledger = new Ledger(clock);
    this.#linkLog = new LinkLog(log);
    this.#watch = new CapabilityWatch({
      clock,
      read: (signal) => node.capabilities(signal),
      changed: (reports) => this.#tellCapabilities(reports),
      loadChanged: (loads) => this.#tellLoads(loads),
      intervalMs: options.capabilityIntervalMs ?? 5_000,
      timeoutMs: 4_000,
    });
    const upstreamAway = () => this.#watch.poke();
    const streams = { pump: this.#pump, ledger: this.#ledger };
    this.#desk = new RunDesk({ node, clock, log, ends, ...streams, upstreamAway });
    node.onDrainChanged((draining) => this.#tellDrain(draining));
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#options.node.onLinkDown();
    const supervisor = createSupervisor({
      ...this.#options,
      hello: () => this.#hello(),
      onLink: (link, welcome) => this.#onLink(link, welcome),
      onState: (state: SupervisorState) => this.#linkLog.state(state),
    });
    await supervisor.run(signal);
    this.#watch.stop();
    this.#desk.channels.close();
  }

  settled(limitMs: number): Promise<void> {
    return this.#desk.channels.settled(this.#link !== undefined, limitMs);
  }

  #hello(): HelloInfo {
    const { self, epochs, node } = this.#options;
    return {
      role: Role.NODE,
      ...self,
      lastEpoch: epochs.lastEpoch,
      openRuns: this.#desk.channels.size,
      configRevision: node.status().configRevision,
    };
  }

  #onLink(link: Link, welcome: Welcome): LinkHandlers {
    const { node, epochs } = this.#options;
    epochs.rememberEpoch(welcome.epoch);
    this.#link = link;
    this.#pump.attach(link);
    this.#ledger.attach(link);
    link.send({ case: 'runInventory', value: this.#desk.inventory() });
    if (node.status().draining) this.#tellDrain(true);
    node.onLinkUp();
    const closing = new AbortController();
    const handlers = this.#handlers(link, closing.signal);
    return {
      onMessage: (message) => handle(handlers, message, link),
      onDrain: () => this.#pump.drained(),
      onClosed: (outcome) => {
        closing.abort();
        this.#onClosed(link, outcome);
      },
    };
  }

  #onClosed(link: Link, _outcome: LinkOutcome): void {
    // An older link that closes late must not take the newer one's place down.
    if (this.#link !== link) return;
    this.#link = undefined;
    this.#pump.detach();
    this.#ledger.detach();
    this.#watch.stop();
    this.#options.node.onLinkDown();
  }

  #handlers(link: Link, signal: AbortSignal): MessageHandlers {
    const desk = this.#desk;
    return {
      runAck: (ack) => desk.onRunAck(ack),
      runCredit: (credit) => desk.onRunCredit(credit),
      runRequest: (request) => {
        if (!desk.onRunRequest(request, link)) link.destroy('an attempt was asked for that was here before');
      },
      runBody: (part) => desk.onRunBody(part),
      cancelRequest: (request) => desk.onCancelRequest(request),
      runResume: (resume) => {
        if (!desk.onRunResume(resume)) link.destroy('a run could not be resumed');
      },
      nodeConfigPayload: (payload) => this.#onConfig(payload, link),
      nodeCommandRequest: (request) => void this.#onCommand(request, link, signal),
      protocolError: ({ code, message }) =>
        this.#options.log.warn({ code, message }, 'the edge did not understand'),
    };
  }

  #onConfig(payload: NodeConfigPayload, link: Link): void {
    const { revision } = payload;
    const read = fromWireConfig(payload);
    const outcome =
      read.kind === 'unreadable'
        ? { kind: 'refused' as const, problems: read.problems }
        : this.#options.node.onConfig(read.configuration);
    const accepted = outcome.kind === 'accepted';
    const problems = outcome.kind === 'refused' ? [...outcome.problems] : [];
    link.send({
      case: 'nodeConfigResult',
      value: create(NodeConfigResultSchema, { revision, accepted, problems }),
    });
    this.#watch.restart();
  }

  async #onCommand(request: NodeCommandRequest, link: Link, signal: AbortSignal): Promise<void> {
    const value = await answerCommand(request, { node: this.#options.node, link, signal });
    link.send({ case: 'nodeCommandResponse', value });
  }

  #tellCapabilities(reports: readonly AdapterReport[]): void {
    const value = create(CapabilitiesChangedSchema, { adapters: toWireReports(reports) });
    this.#tell({ case: 'capabilitiesChanged', value });
  }

  #tellLoads(loads: readonly AdapterLoad[]): void {
    this.#tell({ case: 'loadChanged', value: toWireLoads(loads) });
  }

  #tellDrain(draining: boolean): void {
    this.#tell({ case: 'drainChanged', value: create(DrainChangedSchema, { draining }) });
  }

  #tell(event: EdgeNodeEvent['event']): void {
    this.#link?.send({ case: 'edgeNodeEvent', value: create(EdgeNodeEventSchema, { event }) });
  }
}

type MessageHandlers = {
  [Case in LinkMessage['case']]?: (value: Extract<LinkMessage, { case: Case }>['value']) => void;
};

function handle(handlers: MessageHandlers, message: LinkMessage, link: Link): void {
  const handler = handlers[message.case] as ((value: LinkMessage['value']) => void) | undefined;
  if (handler !== undefined) {
    handler(message.value);
    return;
  }
  const text = `a Node has no use for ${message.case}`;
  const value = create(ProtocolErrorSchema, { code: 'protocol.unexpected-message', message: text });
  link.send({ case: 'protocolError', value });
}
