import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { connectOperator, type OperatorClient, type TargetView } from '@iop/client';
import { IopError } from '@iop/domain';
import { createSystemClock, lockStateDir, openStateDir } from '@iop/shell';
import { type CommandContext, version } from '@iop/shell/program';
import { defaultStateDir } from '../connection/find-edge.ts';
import { numberOption, textOption } from '../output/options.ts';
import { printJson } from '../output/print-json.ts';
import { keepApiKey } from '../up/api-key.ts';
import { chooseAgents, type FoundAgent, findAgents } from '../up/find-agents.ts';
import { findServers } from '../up/find-servers.ts';
import { assertPortsFree } from '../up/free-ports.ts';
import { isReady, proveChat } from '../up/http-door.ts';
import { initEdge } from '../up/init-edge.ts';
import { readOllamaHost } from '../up/ollama-host.ts';
import { assertNotPart, type PartName, partCommand } from '../up/part-command.ts';
import { Parts } from '../up/parts.ts';
import { planUp, portBaseBounds, type UpPlan } from '../up/plan.ts';
import { waitUntil } from '../up/wait-until.ts';
import { watchModels } from '../up/watch-models.ts';
import { formatWelcome } from '../up/welcome-words.ts';
import { type Offer, writeEdgeConfig, writeNodeConfig } from '../up/write-configs.ts';

const startWithinMs = 30_000;

/** The whole hierarchy on this machine, in the foreground: an Edge and a Node as child processes. */
export async function run(context: CommandContext): Promise<void> {
  assertNotPart(process.env);
  const plan = planFrom(context);
  const found = findAgents(process.env.PATH ?? '');
  const offer = offerFrom(context, plan, found);
  for (const dir of [plan.stateDir, plan.edgeDir, plan.nodeDir, plan.logDir]) openStateDir(dir);
  if (offer.agentsDir === plan.agentsDir && offer.agents.length > 0) openStateDir(plan.agentsDir);
  using _lock = lockStateDir(plan.stateDir, 'iop up');
  await assertPortsFree(plan);
  await using parts = new Parts();
  try {
    await parts.guard(serve({ plan, offer, found }, parts, context));
  } catch (reason) {
    // The signal interrupts whatever is waited for; that is how this ends.
    if (!context.signal.aborted) throw reason;
  }
  await parts.stop();
}

function planFrom({ options }: CommandContext): UpPlan {
  const stateDir = textOption(options.stateDir) ?? defaultStateDir(process.env);
  return planUp(stateDir, numberOption(options.portBase, '--port-base', portBaseBounds));
}

function offerFrom({ options }: CommandContext, plan: UpPlan, found: readonly FoundAgent[]): Offer {
  const agentsDir = textOption(options.agentsDir);
  return {
    ollama: readOllamaHost(process.env.OLLAMA_HOST),
    agents: chooseAgents(textOption(options.agents), found),
    agentsDir: agentsDir === undefined ? plan.agentsDir : existingFolder(agentsDir),
    environment: new Set(Object.keys(process.env)),
  };
}

function existingFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return resolve(path);
  const message = `--agents-dir: there is no folder ${path}`;
  throw new IopError({ kind: 'invalid', code: 'usage', message });
}

interface Things {
  plan: UpPlan;
  offer: Offer;
  /** Agents that are there, whether or not they are offered. */
  found: readonly FoundAgent[];
}

async function serve({ plan, offer, found }: Things, parts: Parts, context: CommandContext): Promise<void> {
  const { signal, options, stderr } = context;
  const common = { logDir: plan.logDir, ...(options.verbose === true ? { echo: stderr } : {}) };
  const servers = findServers({ plan, ollama: offer.ollama }, signal);
  const edgeConfig = writeEdgeConfig(plan, offer);
  const pin = await initEdge(plan.edgeDir, signal);
  parts.start({ name: 'edge', command: serveCommand('edge', edgeConfig), ...common });
  parts.start({ name: 'node', command: serveCommand('node', writeNodeConfig(plan, pin, offer)), ...common });
  const wait = { withinMs: startWithinMs, signal };
  await waitUntil('the Edge is ready', () => isReady(plan.httpUrl, signal), wait);
  using client = await connect(plan, signal);
  await waitUntil('the Node offers mock', () => listWith(client, ['mock']), wait);
  const apiKey = await keepApiKey(client, plan.apiKeyFile);
  await proveChat(plan.httpUrl, apiKey, signal);
  const known = await listWhatIsThere(
    client,
    [...(await servers), ...(offer.agents.length > 0 ? ['agents'] : [])],
    wait,
  );
  const agentsNotAsked = offer.agents.length > 0 ? [] : found.map(({ name }) => name);
  announce({ plan, apiKey, targets: known, agentsNotAsked }, context);
  if (options.json !== true) void watchModels(client, known, { out: stderr, signal }).catch(() => {});
  if (!signal.aborted) await once(signal, 'abort');
}

function serveCommand(name: PartName, config: string): string[] {
  return [...partCommand(name), 'serve', '--config', config];
}

function connect(plan: UpPlan, signal: AbortSignal): Promise<OperatorClient> {
  const address = { kind: 'unix', path: plan.socketPath } as const;
  return connectOperator(
    { address, name: 'iop-up', build: `iop ${version}`, clock: createSystemClock() },
    signal,
  );
}

/** Undefined until each of these adapters offers something. */
async function listWith(
  client: OperatorClient,
  adapters: readonly string[],
): Promise<TargetView[] | undefined> {
  const targets = (await client.listTargets()).filter((target) => target.nodes.length > 0);
  const offered = new Set(targets.map((target) => target.adapter));
  return adapters.every((adapter) => offered.has(adapter)) ? targets : undefined;
}

/** Gives the Node a moment to see the servers that we see, so that the first list is whole. */
async function listWhatIsThere(
  client: OperatorClient,
  adapters: readonly string[],
  wait: { withinMs: number; signal: AbortSignal },
): Promise<TargetView[]> {
  try {
    return await waitUntil('the Node sees the local servers', () => listWith(client, adapters), {
      ...wait,
      withinMs: 3_000,
    });
  } catch (reason) {
    if (wait.signal.aborted) throw reason;
    return (await listWith(client, [])) ?? [];
  }
}

interface Started {
  plan: UpPlan;
  apiKey: string;
  targets: readonly TargetView[];
  agentsNotAsked: readonly string[];
}

function announce(
  { plan, apiKey, targets, agentsNotAsked }: Started,
  { options, stdout }: CommandContext,
): void {
  const { stateDir, httpUrl, wireAddress } = plan;
  if (options.json === true) {
    printJson(stdout, { edge: { http: httpUrl, wire: wireAddress }, apiKey, stateDir });
    return;
  }
  const iop = join(import.meta.dirname, '../../../../bin/iop');
  const isDefaultStateDir = stateDir === defaultStateDir(process.env);
  stdout.write(formatWelcome({ plan, apiKey, targets, agentsNotAsked, iop, isDefaultStateDir }));
}
