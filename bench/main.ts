/** `npm run bench`: what is measured and how to read it stands in README.md. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LoadClient } from './load/client.ts';
import { listeningPort, startChild, stopChild } from './machine/child.ts';
import { findNoise } from './machine/quiet.ts';
import { type BenchOptions, parseOptions, usage } from './options.ts';
import { writeJson } from './report/json-report.ts';
import { formatRow } from './report/row-report.ts';
import { benchRows } from './rows/bench-rows.ts';
import { type Cell, type RowResult, runRow } from './rows/run-row.ts';
import { createRandom } from './shuffle.ts';
import { Fleet } from './targets/fleet.ts';

/** The measuring side on one core, what is measured on the other. */
const measuringCpu = 0;
const targetCpu = 1;

async function main(argv: readonly string[]): Promise<number> {
  const options = parseOptions(argv);
  if (options === 'help') {
    console.log(usage);
    return 0;
  }
  const noise = await findNoise([process.pid]);
  if (noise.length > 0) {
    console.error(`This machine is not quiet: ${noise.join('; ')}.`);
    if (!options.force) {
      console.error('Figures taken now would say little. Wait, or measure all the same with --force.');
      return 75;
    }
  }
  await runBench(options, noise);
  return 0;
}

async function runBench(options: BenchOptions, noise: readonly string[]): Promise<void> {
  const startedAt = new Date().toISOString();
  const startMs = performance.now();
  await using stack = new AsyncDisposableStack();
  spawnSync('taskset', ['-acp', String(measuringCpu), String(process.pid)]);
  const scratchDir = mkdtempSync(join(tmpdir(), 'iop-bench-'));
  stack.defer(() => rmSync(scratchDir, { recursive: true, force: true }));
  const mockPort = await startMock(stack, scratchDir);
  const load = stack.use(await LoadClient.start(measuringCpu, openSync(join(scratchDir, 'load.log'), 'a')));
  const { targets: names, profileDir, scale } = options;
  const fleet = stack.use(await Fleet.start({ names, mockPort, cpu: targetCpu, scratchDir, profileDir }));
  const random = createRandom(options.seed);
  const rows: RowResult[] = [];
  for (const row of benchRows(options.rows)) {
    const { targets } = fleet;
    const result = await runRow(row, { load, mockPort, scale, targets, random, onCell: showProgress });
    rows.push(result);
    console.log(`\n${formatRow(result)}`);
  }
  const durationS = (performance.now() - startMs) / 1000;
  writeJson({ options, startedAt, durationS, noise, rows, start: undefined });
  console.log(`\n${durationS.toFixed(0)} s; figures in ${options.jsonFile}`);
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
  return listeningPort(child, 'mock');
}

function showProgress({ target, round, outcome }: Cell): void {
  const note = outcome.kind === 'void' ? ` VOID: ${outcome.reason}` : '';
  console.error(`  round ${round} ${target}${note}`);
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return 70;
});
