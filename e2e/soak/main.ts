import { join } from 'node:path';
import process from 'node:process';
import { checkHistory } from './check/check-history.ts';
import type { History } from './history/history.ts';
import { type Options, readOptions, usage } from './options.ts';
import { reportText, toReport } from './report.ts';
import { type Progress, playSoak, type SoakOptions } from './soak.ts';
import { tellStory } from './tell-story.ts';

const mostStories = 10;

process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../node_modules/.cache/iop');
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: Options | 'help';
  try {
    options = readOptions(args);
  } catch (cause) {
    process.stderr.write(`soak: ${(cause as Error).message}\n\n${usage}`);
    return 64;
  }
  if (options === 'help') {
    process.stdout.write(usage);
    return 0;
  }
  return await soak(options);
}

async function soak({ seed, minutes, json }: Options): Promise<number> {
  const signal = interruption();
  process.stderr.write(`soak: seed ${seed}, ${minutes} minutes of faults\n`);
  const history = await playUnlessEnded({
    seed,
    lastsMs: minutes * 60_000,
    signal,
    onProgress: tellProgress,
  });
  const violations = checkHistory(history);
  const report = toReport(history, violations);
  process.stdout.write(json ? `${JSON.stringify(report, undefined, 2)}\n` : reportText(report));
  for (const violation of violations.slice(0, mostStories))
    process.stderr.write(`\n${tellStory(history, violation)}`);
  if (violations.length > 0)
    process.stderr.write(`soak: ${violations.length} broken invariants with seed ${seed}\n`);
  else process.stderr.write('soak: every invariant held\n');
  return violations.length === 0 ? 0 : 1;
}

/** Who ends it early waits for no caller that still hopes for an answer. */
async function playUnlessEnded(options: SoakOptions): Promise<History> {
  try {
    return await playSoak(options);
  } catch (cause) {
    if (options.signal.aborted) process.exit(130);
    throw cause;
  }
}

/** The first Ctrl-C ends the soak in good order, the second at once: its programs go with it. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(130);
      process.stderr.write('soak: ending; once more ends it at once\n');
      controller.abort();
    });
  }
  return controller.signal;
}

function tellProgress({ elapsedMs, asks, faults, troubles, last }: Progress): void {
  const seconds = Math.round(elapsedMs / 1000);
  process.stderr.write(
    `soak: ${seconds} s: ${asks} asks, ${faults} faults (${last}), ${troubles} troubles\n`,
  );
}
