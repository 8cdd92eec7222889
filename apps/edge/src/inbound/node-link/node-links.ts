import type { Clock } from '@iop/domain';
import type { Link, LinkHandlers, LinkMessage, LinkOutcome } from '@iop/link';
import type { Log } from '@iop/shell';
import { create, type EdgeNodeEvent, type NodeConfigResult, ProtocolErrorSchema } from '@iop/wire';
import type { LinkRef, Nodes } from '../../core/nodes.ts';
import type { TargetChange } from '../../core/target-changes.ts';
import { toCapabilities, toHeld, toLoads } from './from-wire.ts';
import { NodePeer } from './node-peer.ts';

export interface NodeLinksDeps {
  nodes: Nodes;
  clock: Clock;
  log: Log;
}

/** Takes links of Nodes: what they say drives the core, what the core asks goes out on them. */
export function createNodeLinks({ nodes, clock, log }: NodeLinksDeps): { open(link: Link): LinkHandlers } {
  const peers = new Map<string, NodePeer>();

  function peerOf(name: string): NodePeer {
    let peer = peers.get(name);
    if (peer === undefined) {
      peer = new NodePeer(clock);
      peers.set(name, peer);
    }
    return peer;
  }

  return {
    open(link) {
      const { name, instance, epoch, build, labels, transport } = link.peer;
      const at: LinkRef = { name, epoch };
      const peer = peerOf(name);
      peer.attach(link);
      log.info({ node: name, epoch, address: transport.address, build }, 'Node linked');
      nodes.up({ name, instance, epoch, address: transport.address, build, labels }, peer);
      return {
        onMessage: (message) => receive({ nodes, at, peer, link, log }, message),
        onDrain: () => peer.drained(),
        onClosed(outcome) {
          peer.detach(link);
          log.info({ node: name, epoch, ...wordsOf(outcome) }, 'Node link closed');
          nodes.down(at);
        },
      };
    },
  };
}

interface Context {
  nodes: Nodes;
  at: LinkRef;
  peer: NodePeer;
  link: Link;
  log: Log;
}

function receive(ctx: Context, message: LinkMessage): void {
  const { nodes, at, peer } = ctx;
  switch (message.case) {
    case 'runEvents':
      peer.onEvents(message.value);
      break;
    case 'runAccepted':
      peer.onAccepted(message.value);
      break;
    case 'runCredit':
      peer.onCredit(message.value);
      break;
    case 'runInventory':
      nodes.inventory(at, message.value.entries.map(toHeld));
      break;
    case 'nodeConfigResult':
      onConfigResult(ctx, message.value);
      break;
    case 'edgeNodeEvent':
      onNodeEvent(ctx, message.value);
      break;
    default:
      onOther(ctx, message);
  }
}

function onOther({ at, link, log }: Context, message: LinkMessage): void {
  if (message.case === 'protocolError') {
    const { code, message: reason } = message.value;
    log.warn({ node: at.name, code, reason }, 'Node did not understand the Edge');
    return;
  }
  const text = `a Node does not send ${message.case}`;
  const value = { code: 'protocol.unexpected-message', message: text, fatal: false };
  link.send({ case: 'protocolError', value: create(ProtocolErrorSchema, value) });
}

function onConfigResult({ nodes, at, log }: Context, result: NodeConfigResult): void {
  const { revision, accepted } = result;
  const problems = accepted ? [] : result.problems.length > 0 ? result.problems : ['it gave no reason'];
  if (!accepted) log.warn({ node: at.name, revision, problems }, 'Node refused its configuration');
  nodes.configResult(at, { revision, problems });
}

function onNodeEvent({ nodes, at, log }: Context, { event }: EdgeNodeEvent): void {
  if (event.case === 'capabilitiesChanged') {
    const changes = nodes.capabilities(at, event.value.adapters.map(toCapabilities));
    for (const change of changes) log[levelOf(change)]({ node: at.name, ...change }, wordsOfChange(change));
  }
  if (event.case === 'loadChanged') nodes.loads(at, toLoads(event.value.adapters));
  if (event.case === 'drainChanged') nodes.draining(at, event.value.draining);
}

function levelOf({ kind }: TargetChange): 'info' | 'warn' {
  return kind === 'unhealthy' ? 'warn' : 'info';
}

function wordsOfChange({ kind }: TargetChange): string {
  if (kind === 'healthy' || kind === 'unhealthy') return `adapter is ${kind}`;
  return `target ${kind}`;
}

function wordsOf(outcome: LinkOutcome): { why: string; reason?: string } {
  if (outcome.kind === 'silent') return { why: `silent for ${Math.round(outcome.silentMs)} ms` };
  return { why: outcome.kind, reason: outcome.reason };
}
