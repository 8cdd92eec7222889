import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessFigures, ProgramFigures } from '../history/history.ts';
import type { Stage } from '../stage.ts';
import { walSizes } from './stores.ts';

/** Looks at the programs now and then. */
export interface FigureWatch {
  /** Before anything is broken. */
  takeBaseline(): void;
  look(): void;
  /** After everything has calmed down. */
  programs(): ProgramFigures[];
  /** Longest write-ahead log of each database so far. */
  walBytes: ReadonlyMap<string, number>;
}

const nothing: ProcessFigures = { files: 0, residentBytes: 0 };

export function watchFigures(stage: Stage): FigureWatch {
  const baseline = new Map<string, ProcessFigures>();
  const peak = new Map<string, ProcessFigures>();
  const walBytes = new Map<string, number>();
  const programs = () => [stage.edge.program, ...stage.places.map(({ node }) => node.program)];
  return {
    walBytes,
    takeBaseline() {
      for (const { name, pid } of programs()) baseline.set(name, figuresOf(pid) ?? nothing);
    },
    look() {
      for (const { name, pid } of programs()) raise(peak, name, figuresOf(pid) ?? nothing);
      for (const dir of [stage.edge.stateDir, ...stage.places.map(({ node }) => node.stateDir)]) {
        for (const [file, size] of walSizes(dir)) walBytes.set(file, Math.max(size, walBytes.get(file) ?? 0));
      }
    },
    programs: () =>
      programs().map(({ name, pid }) => ({
        name,
        baseline: baseline.get(name) ?? nothing,
        peak: peak.get(name) ?? nothing,
        last: figuresOf(pid) ?? nothing,
      })),
  };
}

function raise(peak: Map<string, ProcessFigures>, name: string, now: ProcessFigures): void {
  const { files, residentBytes } = peak.get(name) ?? nothing;
  peak.set(name, {
    files: Math.max(files, now.files),
    residentBytes: Math.max(residentBytes, now.residentBytes),
  });
}

/** Undefined: it is not there. */
function figuresOf(pid: number): ProcessFigures | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kib = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]);
    if (Number.isNaN(kib)) return undefined; // it has ended, and nobody has looked yet
    return { files: readdirSync(`/proc/${pid}/fd`).length, residentBytes: kib * 1024 };
  } catch {
    return undefined;
  }
}

/** Processes whose command line names this directory. */
export function processesNaming(dir: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const line = commandOf(pid);
      return line.includes(dir) ? [`${pid} ${line}`] : [];
    });
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
