/** As much of the `.cpuprofile` format as self time needs. */
export interface CpuProfile {
  nodes: readonly { id: number; callFrame: CallFrame }[];
  samples: readonly number[];
  /** Microseconds before each sample. */
  timeDeltas: readonly number[];
}

interface CallFrame {
  functionName: string;
  url: string;
  lineNumber: number;
}

export interface SelfTime {
  name: string;
  selfUs: number;
  /** Of the time in which the program was not idle. */
  share: number;
}

/**
 * Functions by self time, most first; idle time is left out.
 * @param skipMs how much of the profile's beginning is left out too: loading and warming up
 */
export function rankSelfTime(profile: CpuProfile, skipMs = 0): SelfTime[] {
  const names = new Map(profile.nodes.map((node) => [node.id, nameOf(node.callFrame)]));
  const byName = new Map<string, number>();
  let busyUs = 0;
  let atUs = 0;
  for (const [at, id] of profile.samples.entries()) {
    const name = names.get(id) ?? '?';
    const spentUs = profile.timeDeltas[at] ?? 0;
    atUs += spentUs;
    if (name === '(idle)' || atUs < skipMs * 1000) continue;
    busyUs += spentUs;
    byName.set(name, (byName.get(name) ?? 0) + spentUs);
  }
  return [...byName]
    .map(([name, selfUs]) => ({ name, selfUs, share: selfUs / busyUs }))
    .sort((a, b) => b.selfUs - a.selfUs);
}

function nameOf({ functionName, url, lineNumber }: CallFrame): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  const place = url.replace(/^.*\/node_modules\/(?!\.store)/, '').replace(/^.*\/(apps|packages)\//, '$1/');
  return `${name} ${place}:${lineNumber + 1}`;
}
