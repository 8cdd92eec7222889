import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { connectOperator, type OperatorClient, type TargetView } from '@iop/client';
import { createSystemClock, lockStateDir, openStateDir } from '@iop/shell';
import { type CommandContext, version } from '@iop/shell/program';
import { defaultStateDir } from '../connection/find-edge.ts';
import { numberOption, textOption } from '../output/options.ts';
import { printJson } from '../output/print-json.ts';
import { keepApiKey } from '../up/api-key.ts';
import { findServers } from '../up/find-servers.ts';
import { assertPortsFree } from '../up/free-ports.ts';
import { isReady, proveChat } from '../up/http-door.ts';
import { initEdge } from '../up/init-edge.ts';
import { assertNotPart, type PartName, partCommand } from '../up/part-command.ts';
import { Parts } from '../up/parts.ts';
import { planUp, portBaseBounds, type UpPlan } from '../up/plan.ts';
import { waitUntil } from '../up/wait-until.ts';
import { watchModels } from '../up/watch-models.ts';
import { formatWelcome } from '../up/welcome-words.ts';
import { writeEdgeConfig, writeNodeConfig } from '../up/write-configs.ts';

const startWithinMs = 30_000;

/** The whole hierarchy on this machine, in the foreground: an Edge and a Node as child processes. */
export async function run(context: CommandContext): Promise<void> {
  assertNotPart(process.env);
  const plan = planFrom(context);
  for (const dir of [plan.stateDir, plan.edgeDir, plan.nodeDir, plan.logDir]) openStateDir(dir);
  using _lock = lockStateDir(plan.stateDir, 'iop up');
  await assertPortsFree(plan);
  await using parts = new Parts();
  try {
    await parts.guard(serve(plan, parts, context));
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

async function serve(plan: UpPlan, parts: Parts, context: CommandContext): Promise<void> {
  const { signal, options, stderr } = context;
  const common = { logDir: plan.logDir, ...(options.verbose === true ? { echo: stderr } : {}) };
  const servers = findServers(plan, signal);
  const edgeConfig = writeEdgeConfig(plan);
  const pin = await initEdge(plan.edgeDir, signal);
  parts.start({ name: 'edge', command: serveCommand('edge', edgeConfig), ...common });
  parts.start({ name: 'node', command: serveCommand('node', writeNodeConfig(plan, pin)), ...common });
  const wait = { withinMs: startWithinMs, signal };
  await waitUntil('the Edge is ready', () => isReady(plan.httpUrl, signal), wait);
  using client = await connect(plan, signal);
  await waitUntil('the Node offers mock', () => listWith(client, ['mock']), wait);
  const apiKey = await keepApiKey(client, plan.apiKeyFile);
  await proveChat(plan.httpUrl, apiKey, signal);
  const known = await listWhatIsThere(client, await servers, wait);
  announce({ plan, apiKey, targets: known }, context);
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
}

function announce({ plan, apiKey, targets }: Started, { options, stdout }: CommandContext): void {
  const { stateDir, httpUrl, wireAddress } = plan;
  if (options.json === true) {
    printJson(stdout, { edge: { http: httpUrl, wire: wireAddress }, apiKey, stateDir });
    return;
  }
  const iop = join(import.meta.dirname, '../../../../bin/iop');
  const isDefaultStateDir = stateDir === defaultStateDir(process.env);
  stdout.write(formatWelcome({ plan, apiKey, targets, iop, isDefaultStateDir }));
}
