import { connect, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { IopError } from '@iop/domain';
import type { Dial, Transport } from '../transport.ts';
import { pinOfKey } from './identity.ts';
import { assertPlaintextAllowed, isLoopback } from './loopback.ts';
import { fromNodeError } from './node-error.ts';
import { SocketTransport } from './socket-transport.ts';

export interface DialTcpOptions {
  host: string;
  port: number;
  /** False: plaintext, on loopback only. */
  tls: boolean;
  /** `sha256:…` of the server keys that are trusted. */
  pins: readonly string[];
  /** TCP and TLS together; default 10 s. */
  connectTimeoutMs?: number;
}

/**
 * Dials over TCP; every call resolves the name anew.
 * @throws IopError, at once: plaintext beyond loopback, TLS without pins; from the `Dial`: `unavailable`,
 *   `timeout`, `cancelled`, or `forbidden` with code `identity.pin-mismatch`
 */
export function dialTcp(options: DialTcpOptions): Dial {
  if (!options.tls) assertPlaintextAllowed(options.host);
  if (options.tls && options.pins.length === 0) throw noPins(options);
  return (signal) => openTcp(options, signal);
}

/** Exporter label of the channel binding. */
export const exporterLabel = 'EXPORTER-iop-link';

function openTcp(options: DialTcpOptions, signal: AbortSignal): Promise<Transport> {
  const { host, port, tls, pins, connectTimeoutMs: timeoutMs = 10_000 } = options;
  const address = `${host}:${port}`;
  const target = { host, port, noDelay: true };
  if (!tls) {
    const socket = connect(target);
    const make = (): Transport => toPlainTransport(socket, address);
    return whenReady({ socket, ready: 'connect', make, address, timeoutMs }, signal);
  }
  const socket = connectTls({ ...target, ...tlsClientOptions(host) });
  const make = (): Transport => toTlsTransport(socket, address, pins);
  return whenReady({ socket, ready: 'secureConnect', make, address, timeoutMs }, signal);
}

/**
 * No CA knows the server, so nothing is rejected here; `toTlsTransport` compares the pin. There is no `session`,
 * so none is resumed: a resumed one would show no certificate to compare.
 */
function tlsClientOptions(host: string): object {
  const name = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
  return { ...name, rejectUnauthorized: false, minVersion: 'TLSv1.3', ALPNProtocols: ['iop'] };
}

interface Pending {
  socket: Socket;
  ready: 'connect' | 'secureConnect';
  /** Called within the event `ready`; what it throws ends the attempt. */
  make(): Transport;
  address: string;
  timeoutMs: number;
}

/** Resolves with what `make` gives once the socket is usable; on every other way out it is destroyed. */
export function whenReady(pending: Pending, signal: AbortSignal): Promise<Transport> {
  const { socket, ready, make, address, timeoutMs } = pending;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail(timedOut(address, timeoutMs)), timeoutMs);
    const onAbort = (): void => fail(cancelled(address));
    const onError = (error: Error): void =>
      fail(fromNodeError(error, `dialling ${address}`, 'link.dial-failed'));
    const onClose = (): void => onError(new Error('the other side hung up'));
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError).off('close', onClose).off(ready, onReady);
    };
    const fail = (error: unknown): void => {
      settle();
      socket.destroy();
      reject(error);
    };
    const onReady = (): void => {
      try {
        resolve(make());
        settle();
      } catch (error) {
        fail(error);
      }
    };
    // One listener stays: a late error of a dead socket must not end the process.
    socket.on('error', () => {});
    socket.on('error', onError).on('close', onClose).on(ready, onReady);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

/** L1: the pin is compared before a byte is written. */
function toTlsTransport(socket: TLSSocket, address: string, pins: readonly string[]): Transport {
  const certificate = socket.getPeerX509Certificate();
  const pin = certificate === undefined ? 'none' : pinOfKey(certificate.publicKey);
  if (socket.isSessionReused() || !pins.includes(pin)) {
    throw new IopError({
      kind: 'forbidden',
      code: 'identity.pin-mismatch',
      message: `the server at ${address} has the key ${pin}, pinned is ${pins.join(' or ')}; if its key was changed on purpose, change the pin`,
      details: { address, pin },
    });
  }
  const binding = socket.exportKeyingMaterial(32, exporterLabel, Buffer.alloc(0));
  return new SocketTransport(socket, { kind: 'tls', address }, binding);
}

/** The name may have resolved to another machine. */
function toPlainTransport(socket: Socket, address: string): Transport {
  if (!isLoopback(socket.remoteAddress ?? '')) assertPlaintextAllowed(socket.remoteAddress ?? address);
  return new SocketTransport(socket, { kind: 'plain', address });
}

function noPins({ host, port }: DialTcpOptions): IopError {
  return new IopError({
    kind: 'invalid',
    code: 'identity.no-pins',
    message: `dialling ${host}:${port} with TLS needs the pin of the server's key (sha256:…); the server prints it at \`init\``,
  });
}

function timedOut(address: string, timeoutMs: number): IopError {
  const message = `dialling ${address}: no answer within ${timeoutMs} ms`;
  return new IopError({ kind: 'timeout', code: 'link.dial-timeout', message });
}

function cancelled(address: string): IopError {
  return new IopError({
    kind: 'cancelled',
    code: 'link.cancelled',
    message: `dialling ${address} was stopped`,
  });
}
