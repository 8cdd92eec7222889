/** Gets the engine that `IOP_LIVE_ENGINE` names into the scratch folder, compiling it if it must. */
import { findEngineFiles } from './engine-files.ts';

const files = await findEngineFiles(true);
if (files.kind === 'running') process.stdout.write(`${files.label}\n`);
else if (files.kind === 'ready') process.stdout.write(`${files.label}\n${files.command(8080).join(' ')}\n`);
else process.stderr.write(`${files.reason}\n`);
process.exitCode = files.kind === 'missing' ? 69 : 0;
