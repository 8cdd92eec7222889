import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Identity } from '@iop/link';
import { createIdentityPem, dialTcp, loadIdentity, nodeCrypto } from '@iop/link/tcp';
import {
  createLog,
  createSystemClock,
  keepPrivate,
  type Log,
  loadConfig,
  lockStateDir,
  openStateDir,
  parseSettings,
  randomBytes,
  readSecretFile,
  writeSecretFile,
} from '@iop/shell';
import { letHeapGrow, releaseMemory } from '@iop/shell/memory';
import { type CommandContext, type LoadedCommand, version } from '@iop/shell/program';
import { type NodeConfig, nodeConfig } from '../config.ts';
import { createNode } from '../core/node.ts';
import { createEdgeLink } from '../inbound/edge-link/edge-link.ts';
import { createCliFactory } from '../outbound/adapters/cli/cli-factory.ts';
import { OrphanLedger } from '../outbound/adapters/cli/orphan-ledger.ts';
import { killRemaining, sweepOrphans } from '../outbound/adapters/cli/orphan-sweep.ts';
import { createMockFactory } from '../outbound/adapters/mock/mock-factory.ts';
import { createOllamaFactory } from '../outbound/adapters/ollama/ollama-factory.ts';
import { createVllmFactory } from '../outbound/adapters/vllm/vllm-factory.ts';
import { openSqliteRunStore } from '../outbound/run-store-sqlite/run-store-sqlite.ts';
import type { AdapterFactory } from '../ports/adapter-factory.ts';

/** After SIGTERM: runs may end by themselves, then are cancelled, then their ends are handed over. */
const shutdownLimits = { graceMs: 5_000, stopMs: 2_000, handOverMs: 1_000 };
const maxBodyBytes = 128 * 1024 * 1024;

export const serveCommand: LoadedCommand = { run: runServe };

async function runServe({ options, signal, stdout }: CommandContext): Promise<void> {
  const file = String(options.config);
  const flags = parseSettings(options.set);
  const config = loadConfig(nodeConfig, { file, env: process.env, flags });
  if (options.check === true) stdout.write(`${file}: ok\n`);
  else await serve(config, signal);
}

/** Everything that a Node is, from the disk to the link, in the order in which it lives. */
export async function serve(config: NodeConfig, signal: AbortSignal): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const log = createLog({ name: 'iop-node', level: config.log.level });
  const clock = createSystemClock();

  const stateDir = openStateDir(config.state_dir);
  stack.use(lockStateDir(stateDir, 'iop-node'));
  const identity = openIdentity(join(stateDir, 'identity.key'), log);
  const history = openSqliteRunStore({ file: keepPrivate(join(stateDir, 'history.db')), clock, log });
  stack.defer(() => history.close());

  // Before a link is up: no run can come while those of before are still there.
  const ledger = new OrphanLedger(join(stateDir, 'cli-runs'));
  await sweepOrphans({ ledger, clock, log });
  stack.defer(() => killRemaining(ledger));

  const factories = new Map<string, AdapterFactory>([
    ['mock', createMockFactory({ clock })],
    ['vllm', createVllmFactory({ clock })],
    ['ollama', createOllamaFactory({ clock })],
    ['cli', createCliFactory({ clock, ledger })],
  ]);
  const node = createNode({ clock, log, store: history, factories, allow: config.allow, maxBodyBytes });

  const { address, tls, pins } = config.edge;
  const edgeLink = createEdgeLink({
    node,
    log,
    clock,
    epochs: history,
    ends: history,
    self: {
      name: config.name,
      instance: randomBytes(16),
      build: `iop-node ${version}`,
      labels: config.labels,
    },
    dial: dialTcp({ ...address, tls, pins }),
    pins,
    identity,
    crypto: nodeCrypto,
    token: () => readToken(config.edge.token_file, log),
    random: Math.random,
  });
  log.info({ node: config.name, edge: `${address.host}:${address.port}`, stateDir }, 'iop-node is starting');

  releaseMemory();
  letHeapGrow();
  const goodbye = new AbortController();
  const linked = edgeLink.run(goodbye.signal);
  await Promise.race([linked, aborted(signal)]);
  log.info({ runs: node.status().runs.length }, 'iop-node is stopping');
  await node.shutdown(shutdownLimits);
  await edgeLink.settled(shutdownLimits.handOverMs);
  goodbye.abort();
  await linked;
}

/** The key that is this Node, made at the first start. */
function openIdentity(file: string, log: Log): Identity {
  if (!existsSync(file)) {
    writeSecretFile(file, createIdentityPem());
    log.info({ file }, 'made a new identity');
  }
  return loadIdentity(readSecretFile(file));
}

/** Read anew at every attempt to link; once the Edge knows the key, nobody needs it. */
function readToken(file: string | undefined, log: Log): string {
  if (file === undefined || !existsSync(file)) return '';
  try {
    return readSecretFile(file);
  } catch (reason) {
    log.warn({ file, error: (reason as Error).message }, 'the token cannot be read');
    return '';
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
