/**
 * The version of the IOP Wire Protocol. A change of any .proto is a new row of the history: the test
 * beside this file compares the newest hash with the schema.
 *
 * A peer at N also talks to N−1: the version in force on a link is the lower of both, and never below
 * `protocolFloor`.
 */
export interface ProtocolRevision {
  version: number;
  /** SHA-256 over the file descriptors, comments left out. */
  schemaHash: string;
  change: string;
}

export const protocolHistory: readonly ProtocolRevision[] = [
  {
    version: 1,
    schemaHash: '59ec26507796b31baf0d4320dea29717efc5510291c45b4a32a4156fc715e16d',
    change: 'The beginning: handshake, life, runs, Node configuration and commands, operator requests.',
  },
  {
    version: 1,
    schemaHash: '48c6f8b647d673f5d0e68f46c6310c6b2e60755591a6ad6ce88680f3d181c7e7',
    change: 'Adapters ollama and cli, raw requests with the head of their answer, facts of targets, load.',
  },
  {
    version: 1,
    schemaHash: 'd3ec14077a7b55edbf56844bc8574224d4550928108b266672c37b9daede6006',
    change: 'Policies of keys, usage, places and aliases of targets, why a run went where it went.',
  },
  {
    version: 1,
    schemaHash: 'b63fe16a7420c03007dd808550f361b65775bc9cde63fd45f9babd3ca62eb437',
    change:
      'Runs that outlive their connections: attempts as events, watching, reading, explaining, deleting, roles of keys.',
  },
];

export const protocolVersion = 1;
export const protocolFloor = 1;

/** The version that both sides speak, or undefined: there is none. */
export function agreeVersion(peerVersion: number): number | undefined {
  const version = Math.min(peerVersion, protocolVersion);
  return version >= protocolFloor ? version : undefined;
}
