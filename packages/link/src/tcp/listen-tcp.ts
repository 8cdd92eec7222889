import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import type { Identity } from '../identity.ts';
import { createCertificatePem } from './certificate.ts';
import { exporterLabel } from './dial-tcp.ts';
import { privateKeyOf } from './identity.ts';
import { type Listener, type OnRefused, type OnTransport, OpenSockets, whenListening } from './listener.ts';
import { assertPlaintextAllowed, isLoopback } from './loopback.ts';
import { fromNodeError } from './node-error.ts';
import { SocketTransport } from './socket-transport.ts';

export interface ListenTcpOptions {
  host: string;
  /** 0: any free one. */
  port: number;
  /** False: plaintext, on loopback only. */
  tls: boolean;
  /** Its key makes the certificate. */
  identity: Identity;
  onTransport: OnTransport;
  onRefused?: OnRefused;
  /** TCP connections at once; more are closed before they cost anything. Default 12 000. */
  connections?: number;
  /** Of them, how many may be in the middle of a TLS handshake; default 256. */
  tlsHandshakes?: number;
}

const tlsHandshakeTimeoutMs = 10_000;

/** @throws IopError: plaintext beyond loopback (`invalid`), address in use (`conflict`) */
export async function listenTcp(options: ListenTcpOptions): Promise<Listener> {
  if (!options.tls) assertPlaintextAllowed(options.host);
  const sockets = new OpenSockets();
  const server = options.tls ? createTls(options) : createPlain(options);
  server.maxConnections = options.connections ?? 12_000;
  server.on('connection', (socket: Socket) => sockets.add(socket));
  const { host, port } = options;
  try {
    await whenListening(server, () => server.listen({ host, port }), options.onRefused ?? nobody);
  } catch (error) {
    throw fromNodeError(error, `listening on ${host}:${port}`, 'link.listen-failed');
  }
  const bound = server.address() as AddressInfo;
  return { address: { host: bound.address, port: bound.port }, close: () => sockets.close(server) };
}

const nobody: OnRefused = () => {};

function createPlain({ onTransport }: ListenTcpOptions): Server {
  return createServer({ noDelay: true }, (socket) => {
    if (!isLoopback(socket.remoteAddress ?? '')) socket.destroy();
    else onTransport(new SocketTransport(socket, { kind: 'plain', address: addressOf(socket) }));
  });
}

/**
 * TCP is accepted here and handed to a TLS server that does not listen itself, so that a connection beyond the
 * limit is closed before TLS costs anything (L3).
 */
function createTls(options: ListenTcpOptions): Server {
  const { onTransport, tlsHandshakes = 256 } = options;
  let handshakes = 0;
  const tls = createTlsServer(tlsServerOptions(options.identity));
  tls.on('secureConnection', (socket: TLSSocket) => {
    handshakes--;
    const binding = socket.exportKeyingMaterial(32, exporterLabel, Buffer.alloc(0));
    onTransport(new SocketTransport(socket, { kind: 'tls', address: addressOf(socket) }, binding));
  });
  // Broken, abandoned or too slow before it was secure; after a time-out Node leaves the socket open.
  tls.on('tlsClientError', (_error, socket) => {
    handshakes--;
    socket.destroy();
  });
  return createServer({ noDelay: true }, (socket) => {
    if (handshakes >= tlsHandshakes) {
      socket.destroy();
      options.onRefused?.('too many TLS handshakes');
      return;
    }
    handshakes++;
    tls.emit('connection', socket);
  });
}

function tlsServerOptions(identity: Identity): TlsOptions {
  return {
    key: privateKeyOf(identity).export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: createCertificatePem(identity),
    minVersion: 'TLSv1.3',
    ALPNProtocols: ['iop'],
    handshakeTimeout: tlsHandshakeTimeoutMs,
  };
}

function addressOf(socket: Socket): string {
  const host = socket.remoteAddress ?? 'unknown';
  return host.includes(':') ? `[${host}]:${socket.remotePort}` : `${host}:${socket.remotePort}`;
}
