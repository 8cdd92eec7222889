import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A network namespace joined to ours by a veth pair. Needs root, iproute2 and iptables. */
export interface NetworkSpace {
  /** Our end, where the Edge listens. */
  readonly hostAddress: string;
  /** In front of a command that shall run inside. */
  readonly prefix: readonly string[];
  /** Drops every TCP segment of this port, both ways, without a word to anybody. */
  dropPort(port: number): void;
  heal(): void;
  close(): void;
}

/** Why there can be none here; undefined when there can. */
export function noNetworkSpace(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  for (const tool of ['ip', 'iptables']) {
    if (spawnSync(tool, ['-V']).status !== 0) return `needs ${tool}`;
  }
  const probe = `iop-probe-${process.pid}`;
  if (spawnSync('ip', ['netns', 'add', probe]).status !== 0)
    return 'needs the right to make a network namespace';
  spawnSync('ip', ['netns', 'del', probe]);
  return undefined;
}

export function openNetworkSpace(): NetworkSpace {
  const id = process.pid % 60_000;
  const [name, outer, inner] = [`iop-${id}`, `iopo${id}`, `iopi${id}`];
  const net = `10.${200 + (id % 50)}.${Math.floor(id / 50) % 250}`;
  const prefix = ['ip', 'netns', 'exec', name];
  run('ip', 'netns', 'add', name);
  try {
    run('ip', 'link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', name);
    run('ip', 'addr', 'add', `${net}.1/24`, 'dev', outer);
    run('ip', 'link', 'set', outer, 'up');
    run(...prefix, 'ip', 'addr', 'add', `${net}.2/24`, 'dev', inner);
    run(...prefix, 'ip', 'link', 'set', inner, 'up');
    run(...prefix, 'ip', 'link', 'set', 'lo', 'up');
  } catch (cause) {
    run('ip', 'netns', 'del', name);
    throw cause;
  }
  return {
    hostAddress: `${net}.1`,
    prefix,
    dropPort(port) {
      run(...prefix, 'iptables', '-A', 'OUTPUT', '-p', 'tcp', '--dport', String(port), '-j', 'DROP');
      run(...prefix, 'iptables', '-A', 'INPUT', '-p', 'tcp', '--sport', String(port), '-j', 'DROP');
    },
    heal: () => run(...prefix, 'iptables', '-F'),
    close: () => run('ip', 'netns', 'del', name),
  };
}

function run(...command: string[]): void {
  const [file = '', ...args] = command;
  const done = spawnSync(file, args, { encoding: 'utf8', timeout: 10_000 });
  if (done.status !== 0) throw new Error(`${command.join(' ')} ended with ${done.status}: ${done.stderr}`);
}

const listening = '0A';

/** Sockets of a process that are connected from or to this port, by its open file descriptors. */
export function connectionsOf(pid: number, port: number): number {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = new Set(
    readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
      .split('\n')
      .slice(1)
      .map((row) => row.trim().split(/\s+/))
      .filter(
        (row) => row[3] !== listening && (row[1]?.endsWith(`:${wanted}`) || row[2]?.endsWith(`:${wanted}`)),
      )
      .map((row) => `socket:[${row[9]}]`),
  );
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => inodes.has(linkOf(pid, fd))).length;
}

function linkOf(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return ''; // closed between the two looks
  }
}
