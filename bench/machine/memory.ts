import { readProc } from './process-tree.ts';

export interface Memory {
  residentBytes: number;
  /** Without pages of files: what the program itself made. */
  anonymousBytes: number;
}

/** Of all the processes together. */
export function readMemory(pids: readonly number[]): Memory {
  const sum: Memory = { residentBytes: 0, anonymousBytes: 0 };
  for (const pid of pids) {
    const memory = parseStatus(readProc(`/proc/${pid}/status`));
    sum.residentBytes += memory.residentBytes;
    sum.anonymousBytes += memory.anonymousBytes;
  }
  return sum;
}

export function parseStatus(text: string): Memory {
  return { residentBytes: fieldBytes(text, 'VmRSS'), anonymousBytes: fieldBytes(text, 'RssAnon') };
}

function fieldBytes(text: string, name: string): number {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1];
  return kibibytes === undefined ? 0 : Number(kibibytes) * 1024;
}
