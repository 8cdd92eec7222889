import { join } from 'node:path';
import type { Identity } from '@iop/link';
import { createIdentityPem, dialTcp, listenTcp, listenUnix, loadIdentity, nodeCrypto } from '@iop/link/tcp';
import { createLog, createRunIdSource, createSystemClock } from '@iop/shell';
import type { RunIntent } from '../core/door.ts';
import { createEdge, type Edge } from '../core/edge.ts';
import { createReadiness } from '../core/readiness.ts';
import type { EdgeSettings } from '../core/settings.ts';
import { createWirePort } from '../inbound/wire-port.ts';
import { createSecrets } from '../outbound/secrets.ts';
import { openSqliteStore } from '../outbound/store-sqlite/store.ts';
import { chat, createRecordingReader, type StartedRun, settingsOf } from './edge-fixture.ts';
import { createTempDir } from './temp-dir.ts';
import { createWireNode, type WireNode, type WireNodeOptions } from './wire-node.ts';

/** A whole Edge but for its HTTP port, on real sockets and a real store, in this process. */
export interface WireWorld extends AsyncDisposable {
  readonly edge: Edge;
  readonly port: number;
  readonly pin: string;
  readonly socketPath: string;
  /** Lines of the log. */
  readonly lines: string[];
  node(name: string, over?: Partial<WireNodeOptions>): WireNode;
  /** Linked and ready. */
  readyNode(name: string, over?: Partial<WireNodeOptions>): Promise<WireNode>;
  start(over?: Partial<RunIntent>): StartedRun;
  /** Ends this process of the Edge without a goodbye and starts another one on the same state. */
  restart(): Promise<void>;
}

export const nodeToken = 'the-node-token';
export const operatorToken = 'the-operator-token';

export interface WireWorldOptions {
  settings?: EdgeSettings;
  tls?: boolean;
}

interface Life {
  edge: Edge;
  port: number;
  close(): Promise<void>;
}

export async function createWireWorld(options: WireWorldOptions = {}): Promise<WireWorld> {
  const dir = await createTempDir();
  const identity = loadIdentity(createIdentityPem());
  const lines: string[] = [];
  const begin = () => startLife({ dir: dir.path, identity, lines, ...options });
  let life = await begin();
  const pin = nodeCrypto.pinOf(identity.publicKey);
  const nodes: WireNode[] = [];

  function node(name: string, over: Partial<WireNodeOptions> = {}): WireNode {
    const { tls = true } = options;
    const made = createWireNode({
      name,
      dial: (signal) => dialTcp({ host: '127.0.0.1', port: life.port, tls, pins: [pin] })(signal),
      pins: [pin],
      token: nodeToken,
      ...over,
    });
    nodes.push(made);
    return made;
  }

  return {
    get edge() {
      return life.edge;
    },
    get port() {
      return life.port;
    },
    pin,
    socketPath: join(dir.path, 'operator.sock'),
    lines,
    node,
    async readyNode(name, over = {}) {
      const made = node(name, over);
      await made.link();
      await until(`Node ${name} is ready`, () =>
        life.edge.listNodes().some((each) => each.name === name && each.state === 'ready'),
      );
      return made;
    },
    start: (over = {}) => startRun(life.edge, over),
    async restart() {
      await life.close();
      life = await begin();
    },
    async [Symbol.asyncDispose]() {
      for (const each of nodes) each.cut();
      await life.close();
      await dir[Symbol.asyncDispose]();
    },
  };
}

function startRun(edge: Edge, over: Partial<RunIntent>): StartedRun {
  const reader = createRecordingReader();
  const outcome = edge.start({ ...chat('echo'), ...over }, reader);
  if (outcome.kind !== 'accepted') throw new Error(`refused: ${JSON.stringify(outcome)}`);
  const { id, consumed, cancel } = outcome.run;
  return Object.assign(reader.view, { id, consumed, cancel });
}

interface LifeOptions extends WireWorldOptions {
  dir: string;
  identity: Identity;
  lines: string[];
}

async function startLife({
  dir,
  identity,
  lines,
  tls = true,
  settings = settingsOf(),
}: LifeOptions): Promise<Life> {
  const clock = createSystemClock();
  const log = createLog({
    name: 'edge',
    level: 'debug',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const store = await openSqliteStore({ file: join(dir, 'state.db'), clock });
  const edge = createEdge({
    clock,
    health: createReadiness([]),
    settings,
    records: store.records,
    log: store.log,
    orders: store.orders,
    restored: store.restored,
    keys: store.keys,
    secrets: createSecrets(),
    newRunId: createRunIdSource(clock),
    knownNodes: store.identities.names('node'),
  });
  const identities = store.identities;
  const port = createWirePort({
    edge,
    name: 'lab',
    identity,
    identities,
    nodeToken,
    operatorToken,
    bodyLimitBytes: 2 * 1024 * 1024,
    clock,
    log,
  });
  const tcp = await listenTcp({ host: '127.0.0.1', port: 0, tls, identity, onTransport: port.accept });
  const unix = await listenUnix({ path: join(dir, 'operator.sock'), onTransport: port.accept });
  return {
    edge,
    port: tcp.address.port,
    async close() {
      for (const link of port.links()) link.destroy('the Edge was killed');
      port.close('the test is over', 0);
      await Promise.all([tcp.close(), unix.close(), store.close()]);
      // its timers go too; the store has heard nothing of it
      await edge.stop({ drainMs: 0, confirmMs: 0 });
    },
  };
}

/** Waits for what must come; bounded generously, because the machine may be busy. */
export async function until(what: string, isTrue: () => boolean, timeoutMs = 20_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
