import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { isLoopbackHost } from './http-config.ts';

/** Who calls, as far as the connection and the proxies that are trusted say. */
export interface Client {
  address: string;
  /** On this machine, with nobody from elsewhere behind it. */
  isLocal: boolean;
  /** Names under which it calls us: what it wrote in Host, and what proxies say that it wrote. */
  hosts: readonly string[];
}

export type ClientOf = (req: IncomingMessage) => Client;

/** Longer chains are read from their end only, which is the trusted one. */
const maxHops = 32;

/**
 * `X-Forwarded-*` counts only when the connection comes from a trusted proxy; anybody can write it.
 *
 * @param trusted addresses and networks: `10.0.0.1`, `10.0.0.0/8`, `fd00::/8`
 */
export function createClientOf(trusted: readonly string[]): ClientOf {
  const isTrusted = createAddressList(trusted);
  return (req) => {
    const peer = plainAddress(req.socket.remoteAddress ?? '');
    const { headers } = req;
    const hosts = [headers.host ?? ''];
    const forwardedFor = headers['x-forwarded-for'];
    const isForwarded = forwardedFor !== undefined || headers.forwarded !== undefined;
    if (!isTrusted(peer)) return { address: peer, isLocal: !isForwarded && isLoopbackHost(peer), hosts };
    hosts.push(...listOf(headers['x-forwarded-host']));
    if (forwardedFor === undefined)
      return { address: peer, isLocal: !isForwarded && isLoopbackHost(peer), hosts };
    const address = firstStranger(peer, listOf(forwardedFor), isTrusted);
    return { address, isLocal: isLoopbackHost(address), hosts };
  };
}

/** Every proxy appends whom it heard: the last one that is no proxy of ours is the caller. */
function firstStranger(
  peer: string,
  hops: readonly string[],
  isTrusted: (address: string) => boolean,
): string {
  let address = peer;
  for (const hop of hops.slice(-maxHops).reverse()) {
    const next = plainAddress(hop.replace(/^\[(.*)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1'));
    if (isIP(next) === 0) break;
    address = next;
    if (!isTrusted(address)) break;
  }
  return address;
}

/** @throws never for what `isNetwork` accepts */
export function createAddressList(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  if (networks.length === 0) return () => false;
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** An address, or one with the length of a prefix. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

function listOf(header: string | readonly string[] | undefined): string[] {
  if (header === undefined) return [];
  return (typeof header === 'string' ? header : header.join(',')).split(',').map((each) => each.trim());
}

/** An IPv4 address on a socket of both kinds. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
