/** Something that breaks, and when: milliseconds since the chaos began. */
export interface Fault {
  atMs: number;
  /** `edge` or the name of a Node. */
  victim: string;
  act: FaultAct;
}

export type FaultAct =
  /** SIGKILL, and started again after so long. */
  | { kind: 'kill'; downMs: number }
  /** SIGTERM, and started again after so long. */
  | { kind: 'term'; downMs: number }
  /** SIGSTOP, SIGCONT. */
  | { kind: 'freeze'; lastsMs: number }
  /** Every connection of its link is cut. */
  | { kind: 'cut' }
  /** The next so many bytes pass, then its link is cut. */
  | { kind: 'cut-in-frame'; direction: 'up' | 'down'; bytes: number }
  /** Its link passes nothing and loses nothing. */
  | { kind: 'hold'; lastsMs: number }
  /** Its link swallows everything, and tells nobody. */
  | { kind: 'blackhole'; lastsMs: number }
  /** New connections are refused, the old ones cut. */
  | { kind: 'refuse'; lastsMs: number }
  /** Its upstream fails every request. */
  | { kind: 'storm'; lastsMs: number; status: number };

export type FaultKind = FaultAct['kind'];

export function lengthMs(act: FaultAct): number {
  if (act.kind === 'kill' || act.kind === 'term') return act.downMs;
  return act.kind === 'cut' || act.kind === 'cut-in-frame' ? 0 : act.lastsMs;
}
