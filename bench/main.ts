/** `npm run bench`: what is measured and how to read it stands in README.md. */
import { runBench } from './bench-run.ts';
import { findNoise } from './machine/quiet.ts';
import { parseOptions, usage } from './options.ts';

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

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return 70;
});
