import { IopError } from '@iop/domain';
import type { CertificateFiles } from './certificate.ts';

/** What `edge.yaml` says about the HTTP port, and what tests shorten. */
export interface HttpConfig {
  host: string;
  /** 0: any free port. */
  port: number;
  /** `none` is accepted on loopback only. */
  auth: 'keys' | 'none';
  /** Origins of browsers that may call, exactly as they send them; `*`: all. */
  corsOrigins: readonly string[];
  bodyLimitBytes: number;
  /** Addresses and networks whose `X-Forwarded-*` counts. */
  trustedProxies: readonly string[];
  /** Before every path: `/iop`, or nothing. */
  basePath: string;
  /** HTTPS instead of HTTP. */
  tls?: CertificateFiles;
  times?: Partial<HttpTimes>;
}

export interface HttpTimes {
  /** A connection that sends no complete request head in this time is closed. */
  headMs: number;
  /** A request has to have arrived in this time, head and body. */
  requestMs: number;
  /** Idle connections are kept this long: longer than load balancers do (60 s). */
  keepAliveMs: number;
  /** A stream answers with headers at the latest now, content or not. */
  firstByteMs: number;
  /** A stream is never silent for longer. */
  heartbeatMs: number;
  /** A caller that does not take the rest of an ended answer loses its connection. */
  unreadMs: number;
  /** What is still open so long after `close` is cut. */
  closeGraceMs: number;
  /** How often the files of the certificate are looked at. */
  certificateMs: number;
}

const defaults: HttpTimes = {
  headMs: 20_000,
  requestMs: 120_000,
  keepAliveMs: 75_000,
  firstByteMs: 10_000,
  heartbeatMs: 15_000,
  unreadMs: 30_000,
  closeGraceMs: 10_000,
  certificateMs: 1_000,
};

export function httpTimes(config: HttpConfig): HttpTimes {
  return { ...defaults, ...config.times };
}

/** @throws IopError `config.invalid` when the port would be open to everybody */
export function assertHttpConfig(config: HttpConfig): void {
  if (config.auth === 'keys') return;
  if (!isLoopbackHost(config.host)) {
    refuse(`on loopback only, but http.host is ${config.host}; use auth: keys, or host: 127.0.0.1`);
  }
  // Every page that the user visits could call: the browser is on this machine.
  if (config.corsOrigins.includes('*')) refuse('with named origins only; name them in http.cors_origins');
}

function refuse(rule: string): never {
  throw new IopError({
    kind: 'invalid',
    code: 'config.invalid',
    message: `http.auth: none is accepted ${rule}`,
  });
}

/** A host name or address, as configured or as in a Host header without its port. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  return name === 'localhost' || name === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(name);
}
