import { existsSync } from 'node:fs';
import { IopError } from '@iop/domain';
import type { Identity } from '@iop/link';
import { listenTcp, listenUnix, loadIdentity, nodeCrypto } from '@iop/link/tcp';
import {
  createLog,
  createMetrics,
  createRunIdSource,
  createSystemClock,
  keepPrivate,
  type Log,
  loadConfig,
  lockStateDir,
  openStateDir,
  parseSettings,
  readSecretFile,
} from '@iop/shell';
import { letHeapGrow, releaseMemory } from '@iop/shell/memory';
import type { CommandContext, LoadedCommand } from '@iop/shell/program';
import { type EdgeConfig, edgeConfig } from '../config.ts';
import { toHistory, toHttpConfig, toSettings } from '../config-settings.ts';
import { createEdge } from '../core/edge.ts';
import { createReadiness } from '../core/readiness.ts';
import { readCertificate } from '../inbound/http/certificate.ts';
import { assertHttpConfig, isLoopbackHost } from '../inbound/http/http-config.ts';
import { createHttpDoor } from '../inbound/http-door.ts';
import { createWirePort } from '../inbound/wire-port.ts';
import { createEdgeMetrics } from '../outbound/edge-metrics.ts';
import { createSecrets } from '../outbound/secrets.ts';
import { openSqliteStore } from '../outbound/store-sqlite/store.ts';
import { stateFiles } from '../state-files.ts';
import { watchConfig } from './config-watch.ts';
import { numberSettings } from './number-settings.ts';
import { createRefusalLog } from './refusal-log.ts';

export const serveCommand: LoadedCommand = { run: runServe };

async function runServe({ options, signal, stdout }: CommandContext): Promise<void> {
  const file = String(options.config);
  const flags = parseSettings(options.set);
  const load = () => checked(loadConfig(edgeConfig, { file, env: process.env, flags }));
  const config = load();
  if (options.check === true) stdout.write(`${file}: ok\n`);
  else await serve({ file, config, load }, signal);
}

export interface ServeInput {
  config: EdgeConfig;
  /** Watched, and read again by `load` when it changes. */
  file: string;
  load(): EdgeConfig;
}

/** After the runs were let end by themselves, Nodes have so long to confirm that they stopped the rest. */
const confirmMs = 2000;

/** Everything that an Edge is, from the disk to the doors, in the order in which it lives. */
export async function serve({ config, file, load }: ServeInput, signal: AbortSignal): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const log = createLog({ name: 'iop-edge', level: config.log.level });
  const clock = createSystemClock();
  const health = createReadiness(['store', 'wire']);
  warnOfOrphans(config, log);

  const stateDir = openStateDir(config.state_dir);
  const files = stateFiles(stateDir);
  stack.use(lockStateDir(stateDir, 'iop-edge'));
  const { identity, nodeToken, operatorToken } = readSecrets(files);
  const store = await openSqliteStore({
    file: keepPrivate(files.store),
    clock,
    ...toHistory(config.history),
    onProblem(problem) {
      health.set('store', problem);
      if (problem !== undefined)
        log.error({ problem }, 'the store does not work; runs go on without records');
    },
  });
  stack.defer(() => store.close());
  health.set('store', undefined);
  if (store.interrupted > 0)
    log.warn({ runs: store.interrupted }, 'runs of the last process are edge.restarted');
  if (store.restored.length > 0) log.info({ runs: store.restored.length }, 'detached runs are taken up');

  const edge = createEdge({
    clock,
    health,
    settings: await numberSettings(toSettings(config), store.revisionOf),
    records: store.records,
    log: store.log,
    orders: store.orders,
    restored: store.restored,
    keys: store.keys,
    secrets: createSecrets(),
    newRunId: createRunIdSource(clock),
    knownNodes: store.identities.names('node'),
  });
  const metrics = createEdgeMetrics({ metrics: createMetrics('iop_edge_'), edge, store: store.stats });

  const wirePort = createWirePort({
    edge,
    name: config.name,
    identity,
    identities: store.identities,
    nodeToken,
    operatorToken,
    bodyLimitBytes: config.http.body_limit,
    clock,
    log,
  });
  const onTransport = wirePort.accept;
  const drainMs = config.limits.drain;
  const http = createHttpDoor({
    edge,
    operators: edge,
    config: toHttpConfig(config, drainMs + confirmMs + 500),
    log,
    metrics,
    clock,
  });
  releaseMemory();
  letHeapGrow();
  const onRefused = createRefusalLog(log, clock);
  const local = await listenUnix({ path: files.operatorSocket, onTransport, onRefused });
  stack.defer(() => local.close());
  const wire = await listenTcp({ ...config.wire, identity, onTransport, onRefused });
  stack.defer(() => wire.close());
  health.set('wire', undefined);
  const httpAddress = await http.listen();
  stack.defer(watchConfig({ file, config, load, store, edge, log }));
  const pin = nodeCrypto.pinOf(identity.publicKey);
  log.info({ edge: config.name, wire: wire.address, http: httpAddress, stateDir, pin }, 'iop-edge serves');

  await aborted(signal);
  log.info({ ...edge.gauges() }, 'iop-edge is stopping');
  const answered = http.close();
  await edge.stop({ drainMs, confirmMs });
  wirePort.close('the Edge is stopping', spreadMs(edge.nodes.size));
  await answered;
  log.info({}, 'iop-edge has stopped');
}

/** What the schema cannot say. */
function checked(config: EdgeConfig): EdgeConfig {
  const http = toHttpConfig(config, 0);
  assertHttpConfig(http);
  if (http.tls !== undefined) readCertificate(http.tls);
  const { host, tls } = config.wire;
  if (tls || isLoopbackHost(host)) return config;
  const message = `wire.tls: false is accepted on loopback only, but wire.host is ${host}; remove it, or use 127.0.0.1`;
  throw new IopError({ kind: 'invalid', code: 'config.invalid', message });
}

function readSecrets(files: ReturnType<typeof stateFiles>): {
  identity: Identity;
  nodeToken: string;
  operatorToken: string;
} {
  const missing = [files.identity, files.nodeToken, files.operatorToken].find((file) => !existsSync(file));
  if (missing !== undefined) {
    const message = `${missing} is not there; run \`iop-edge init --state-dir DIR\` for this state directory first`;
    throw new IopError({
      kind: 'invalid',
      code: 'config.not-initialised',
      message,
      details: { path: missing },
    });
  }
  return {
    identity: loadIdentity(readSecretFile(files.identity)),
    nodeToken: readSecretFile(files.nodeToken),
    operatorToken: readSecretFile(files.operatorToken),
  };
}

/** A Node that outlives the Edge's patience works on what already ended as lost. */
function warnOfOrphans({ limits }: EdgeConfig, log: Log): void {
  if (limits.orphan_after < limits.lost_after) return;
  const { orphan_after: orphanAfterMs, lost_after: lostAfterMs } = limits;
  log.warn({ orphanAfterMs, lostAfterMs }, 'limits.orphan_after should be shorter than limits.lost_after');
}

/** So that a fleet does not come back all at once: the whole of it within fleet / 250 seconds. */
function spreadMs(fleetSize: number): number {
  return Math.min(60_000, fleetSize * 4);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
