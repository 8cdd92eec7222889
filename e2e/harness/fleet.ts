import { join } from 'node:path';
import type { FleetEvent } from '../peers/fleet-node.ts';
import type { Edge } from './edge.ts';
import { type Program, startProgram } from './program.ts';

const fleetMain = join(import.meta.dirname, '../peers/fleet-main.ts');

/** Many simulated Nodes in one child process. */
export interface Fleet {
  readonly program: Program;
  readonly count: number;
  events(): FleetEvent[];
}

export function startFleet(edge: Edge, prefix: string, count: number): Fleet {
  const program = startProgram({
    name: `fleet ${prefix}`,
    command: [
      process.execPath,
      fleetMain,
      String(edge.wirePort),
      edge.pin,
      edge.nodeTokenFile,
      String(count),
      prefix,
    ],
  });
  return {
    program,
    count,
    events: () =>
      program.lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as FleetEvent),
  };
}
