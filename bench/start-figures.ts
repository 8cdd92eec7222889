import { spawnSync } from 'node:child_process';
import { readMemory } from './machine/memory.ts';
import { formatCheck } from './report/verdict.ts';
import type { Check } from './rows/row.ts';
import { median } from './statistics.ts';
import { iopPrograms } from './targets/iop-programs.ts';
import type { Target } from './targets/target.ts';

/** How long `--version` takes from source, and what an idle Edge and Node hold. */
export interface StartFigures {
  figures: Readonly<Record<string, number>>;
  checks: readonly Check[];
}

const versionRuns = 7;

/** @param iop just started, nothing asked of it yet but one request */
export function measureStart(iop: Target): StartFigures {
  const figures: Record<string, number> = {};
  const checks: Check[] = [];
  for (const name of ['edge', 'node'] as const) {
    const pid = iop.parts.find((part) => part.name === name)?.pid ?? 0;
    const versionMs = timeVersion(iopPrograms[name]);
    const idleAnonymousMb = readMemory([pid]).anonymousBytes / 1e6;
    Object.assign(figures, { [`${name}VersionMs`]: versionMs, [`${name}IdleAnonymousMb`]: idleAnonymousMb });
    checks.push(
      { text: `iop-${name} --version from source, ms`, value: versionMs, limit: 300, better: 'less' },
      { text: `iop-${name} idle, anonymous RSS, MB`, value: idleAnonymousMb, limit: 80, better: 'less' },
    );
  }
  return { figures, checks };
}

export function formatStart({ checks }: StartFigures): string {
  return ['start  --version and idle memory', ...checks.map(formatCheck)].join('\n');
}

/** Wall time of the whole process, on the measuring core. */
function timeVersion(program: string): number {
  const times: number[] = [];
  for (let run = 0; run < versionRuns; run++) {
    const startMs = performance.now();
    const { status } = spawnSync(process.execPath, [program, '--version'], { timeout: 10_000 });
    if (status !== 0) return Number.NaN;
    times.push(performance.now() - startMs);
  }
  return median(times);
}
