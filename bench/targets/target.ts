import type { Place } from '../load/messages.ts';

export const targetNames = ['direct', 'nginx', 'passthrough', 'portkey', 'iop', 'iop-tls'] as const;
export type TargetName = (typeof targetNames)[number];

export interface ProcessPart {
  name: string;
  pid: number;
}

/** Something between the load and the mock, up and ready. */
export interface Target {
  name: TargetName;
  place: Place;
  /** Roots of its process trees. */
  parts: readonly ProcessPart[];
  stop(): Promise<void>;
}

export interface TargetContext {
  mockPort: number;
  /** The CPU that the target's whole tree runs on. */
  cpu: number;
  /** A folder of its own, outside of the repository, gone after the run. */
  scratchDir: string;
  /** Opens a log file there. */
  openLog(name: string): number;
}

export type StartTarget = (context: TargetContext) => Promise<Target>;
