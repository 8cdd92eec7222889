import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { OperatorAddress } from '@iop/client';
import { IopError } from '@iop/domain';
import { parseHostPort, readSecretFile } from '@iop/shell';

/** What a command line and the environment say of where the Edge is. */
export interface EdgeChoice {
  socket?: string | undefined;
  edge?: string | undefined;
  /** Pins, one a line. */
  pin?: string | undefined;
  tokenFile?: string | undefined;
  plaintext: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where `iop up` keeps its state unless told otherwise. */
export function defaultStateDir(env: Environment): string {
  const base = env.XDG_STATE_HOME;
  return join(base === undefined || base === '' ? join(homedir(), '.local', 'state') : base, 'iop');
}

/** Sockets of Edges on this machine, the likeliest first. */
export function socketCandidates(env: Environment): string[] {
  const own = env.IOP_STATE_DIR;
  if (own !== undefined && own !== '')
    return [join(own, 'edge', 'operator.sock'), join(own, 'operator.sock')];
  return [join(defaultStateDir(env), 'edge', 'operator.sock'), '/var/lib/iop-edge/operator.sock'];
}

/** The Edge that a command is to ask. */
export function findEdge(choice: EdgeChoice, env: Environment): OperatorAddress {
  if (choice.edge !== undefined && choice.socket !== undefined) {
    throw usage('give --socket or --edge, not both');
  }
  if (choice.edge !== undefined) return overTcp(choice.edge, choice);
  if (choice.socket !== undefined) return { kind: 'unix', path: choice.socket };
  const candidates = socketCandidates(env);
  const path = candidates.find((candidate) => existsSync(candidate));
  if (path !== undefined) return { kind: 'unix', path };
  throw new IopError({
    kind: 'unavailable',
    code: 'edge.not-found',
    message: `found no Edge on this machine (looked for ${candidates.join(' and ')}); start one with \`iop up\`, or say where it is with --socket or --edge`,
  });
}

function overTcp(edge: string, choice: EdgeChoice): OperatorAddress {
  const address = parseHostPort(edge);
  if (address === undefined) throw usage(`--edge takes host:port such as edge.lan:7400, not ${edge}`);
  const pins = (choice.pin ?? '').split(/[\s,]+/).filter((pin) => pin !== '');
  const wrong = pins.find((pin) => !/^sha256:[0-9a-f]{64}$/.test(pin));
  if (wrong !== undefined) throw usage(`a pin is sha256: and 64 hex digits, not ${wrong}`);
  if (pins.length === 0)
    throw usage('--edge needs --pin: without it anybody could be the Edge (`iop-edge init` printed it)');
  const { tokenFile } = choice;
  if (tokenFile === undefined) throw usage('--edge needs --token-file: a copy of the Edge’s operator.token');
  return { kind: 'tcp', ...address, tls: !choice.plaintext, pins, token: () => readSecretFile(tokenFile) };
}

function usage(message: string): IopError {
  return new IopError({ kind: 'invalid', code: 'usage', message });
}
