import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatCodec, measureCodec } from './codec/codec-figures.ts';
import { LoadClient } from './load/client.ts';
import { sleep } from './load/sleep.ts';
import { listeningPort, startChild, stopChild } from './machine/child.ts';
import type { BenchOptions } from './options.ts';
import { writeJson } from './report/json-report.ts';
import { formatRow } from './report/row-report.ts';
import { benchRows } from './rows/bench-rows.ts';
import { type Cell, type RowResult, runRow } from './rows/run-row.ts';
import { warmUp } from './rows/warm-up.ts';
import { createRandom } from './shuffle.ts';
import { formatStart, measureStart, type StartFigures } from './start-figures.ts';
import { formatStore, measureStore, type StoreFigures } from './store/store-figures.ts';
import { Fleet } from './targets/fleet.ts';

/** The measuring side on one core, what is measured on the other. */
const measuringCpu = 0;
const targetCpu = 1;

/** All that is up during a run. */
interface Scene {
  load: LoadClient;
  mockPort: number;
  fleet: Fleet;
}

/** @param noise why the machine is not fit for it, when that was overruled */
export async function runBench(options: BenchOptions, noise: readonly string[]): Promise<void> {
  const startedAt = new Date().toISOString();
  const startMs = performance.now();
  const store = options.rows.includes('P10') ? await measureStoreAlone(options) : undefined;
  const { start, rows } = benchRows(options.rows).length > 0 ? await measureTargets(options) : nothing;
  const codec = options.rows.includes('P11') ? measureCodec(options.scale.rounds) : undefined;
  if (codec !== undefined) console.log(`\n${formatCodec(codec)}`);
  const durationS = (performance.now() - startMs) / 1000;
  writeJson({ options, startedAt, durationS, noise, rows, start, codec, store });
  console.log(`\n${durationS.toFixed(0)} s; figures in ${options.jsonFile}`);
}

const nothing = { start: undefined, rows: [] };

/** Before anything else is up. */
async function measureStoreAlone({ scale }: BenchOptions): Promise<StoreFigures> {
  console.error('P10 …');
  const store = await measureStore(scale.longRounds, scale.storeWindowMs);
  console.log(`\n${formatStore(store)}`);
  return store;
}

async function measureTargets(options: BenchOptions) {
  await using stack = new AsyncDisposableStack();
  const scene = await openScene(stack, options);
  const start = await measureIdleIop(scene.fleet);
  return { start, rows: await measureRows(options, scene) };
}

async function openScene(stack: AsyncDisposableStack, options: BenchOptions): Promise<Scene> {
  spawnSync('taskset', ['-acp', String(measuringCpu), String(process.pid)]);
  const scratchDir = mkdtempSync(join(tmpdir(), 'iop-bench-'));
  stack.defer(() => rmSync(scratchDir, { recursive: true, force: true }));
  const mockPort = await startMock(stack, scratchDir);
  const logFd = openSync(join(scratchDir, 'load.log'), 'a');
  const load = stack.use(await LoadClient.start(measuringCpu, logFd));
  const { targets: names, profileDir } = options;
  const fleet = await Fleet.start({ names, mockPort, cpu: targetCpu, scratchDir, profileDir });
  stack.use(fleet);
  return { load, mockPort, fleet };
}

async function startMock(stack: AsyncDisposableStack, scratchDir: string): Promise<number> {
  const child = startChild({
    name: 'mock',
    cpu: measuringCpu,
    command: process.execPath,
    args: [new URL('./mock/server.ts', import.meta.url).pathname],
    ipc: true,
    logFd: openSync(join(scratchDir, 'mock.log'), 'a'),
  });
  stack.defer(() => stopChild(child));
  return await listeningPort(child, 'mock');
}

async function measureIdleIop(fleet: Fleet): Promise<StartFigures | undefined> {
  const iop = fleet.targets.find((target) => target.name === 'iop');
  if (iop === undefined) return undefined;
  await sleep(1000);
  const start = measureStart(iop);
  console.log(formatStart(start));
  return start;
}

async function measureRows(options: BenchOptions, scene: Scene): Promise<RowResult[]> {
  const random = createRandom(options.seed);
  const { load, mockPort, fleet } = scene;
  const context = { load, mockPort, scale: options.scale };
  const rows: RowResult[] = [];
  let warm = false;
  for (const row of benchRows(options.rows)) {
    if (row.id !== 'P5' && !warm) await warmUp(fleet.targets, context);
    warm ||= row.id !== 'P5';
    console.error(`${row.id} …`);
    const result = await runRow(row, { ...context, targets: fleet.targets, random, onCell: showProgress });
    rows.push(result);
    console.log(`\n${formatRow(result)}`);
  }
  return rows;
}

function showProgress({ target, round, outcome }: Cell): void {
  const note = outcome.kind === 'void' ? ` VOID: ${outcome.reason}` : '';
  console.error(`  round ${round} ${target}${note}`);
}
