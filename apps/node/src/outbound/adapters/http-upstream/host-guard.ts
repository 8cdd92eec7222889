import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { forbiddenHostCode } from './upstream-fault.ts';

/**
 * Where an upstream may be: the hosts that `node.yaml` allows, asked when a configuration is checked
 * and again when a connection is made, so that neither a configuration nor a name server can point
 * the Node at something else.
 */
export interface HostGuard {
  allows(hostname: string): boolean;
  connector(connectTimeoutMs: number): buildConnector.connector;
}

/** @param resolve how names become addresses, asked anew for every connection */
export function createHostGuard(hosts: readonly string[], resolve: ResolveAll = lookup): HostGuard {
  const allowed = new Set(hosts.map(canonicalHost));
  const allows = (hostname: string) => allowed.has(canonicalHost(hostname));
  return {
    allows,
    connector(connectTimeoutMs) {
      const connect = buildConnector({
        timeout: connectTimeoutMs,
        allowH2: false,
        lookup: guardedLookup(allowed, resolve),
      } as buildConnector.BuildOptions);
      return (options, callback) => {
        if (!allows(options.hostname)) {
          callback(forbidden(`${options.hostname} is not among the allowed hosts of this Node`), null);
          return;
        }
        // undici cancels a connection attempt through the socket that is returned.
        return connect(options, callback) as unknown as undefined;
      };
    },
  };
}

/** Host of a URL or a list, in one spelling: lower case, addresses as a URL writes them, no brackets. */
export function canonicalHost(host: string): string {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  const url = URL.parse(isIP(bare) === 6 ? `http://[${bare}]` : `http://${bare}`);
  return url === null ? bare : url.hostname.replace(/^\[|\]$/g, '');
}

// Addresses that no allowed name may resolve to: metadata services, "this network", multicast.
const neverByName = new BlockList();
neverByName.addSubnet('169.254.0.0', 16, 'ipv4');
neverByName.addSubnet('0.0.0.0', 8, 'ipv4');
neverByName.addSubnet('224.0.0.0', 3, 'ipv4');
neverByName.addSubnet('fe80::', 10, 'ipv6');
neverByName.addSubnet('ff00::', 8, 'ipv6');
neverByName.addSubnet('fd00:ec2::254', 128, 'ipv6');
neverByName.addAddress('::', 'ipv6');
neverByName.addAddress('100.100.100.200', 'ipv4');
// The same within IPv6: NAT64 and 6to4.
neverByName.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
neverByName.addSubnet('2002:a9fe::', 32, 'ipv6');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

export type ResolveAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

function guardedLookup(allowed: ReadonlySet<string>, resolve: ResolveAll): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const fit = addresses.filter((found) => mayResolve(hostname, found, allowed));
      if (fit.length === 0) {
        const list = addresses.map((found) => found.address).join(', ');
        return callback(forbidden(`${hostname} resolves to ${list}, where no upstream may be`), []);
      }
      if (options.all) return callback(null, fit);
      const first = fit[0] as LookupAddress;
      callback(null, first.address, first.family);
    });
  };
}

export function mayResolve(hostname: string, found: LookupAddress, allowed: ReadonlySet<string>): boolean {
  if (allowed.has(canonicalHost(found.address))) return true;
  const family = found.family === 6 ? 'ipv6' : 'ipv4';
  if (canonicalHost(hostname) === 'localhost') return loopback.check(found.address, family);
  // Another name that leads to this machine is one that somebody has turned.
  return !neverByName.check(found.address, family) && !loopback.check(found.address, family);
}

function forbidden(message: string): Error {
  return Object.assign(new Error(message), { code: forbiddenHostCode });
}
