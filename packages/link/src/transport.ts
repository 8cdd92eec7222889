/**
 * A byte duplex to one peer, before anything is known of it. Implementations: TCP+TLS, plaintext TCP
 * (loopback only), Unix socket (`@iop/link/tcp`), memory (`@iop/link/testing`).
 *
 * T1: `write` never blocks; bytes leave in order, the chunks of one `write` in one system call.
 * T2: `onClosed` calls exactly once, also after `destroy`, and nothing calls after it.
 * T3: `pause` stops `onBytes` after at most one more call.
 */
export interface Transport {
  readonly peer: TransportPeer;
  /** TLS exporter "EXPORTER-iop-link", 32 bytes; all zero where there is no TLS. */
  readonly channelBinding: Uint8Array;
  /** Bytes taken by `write` that have not left the process yet. */
  readonly unsentBytes: number;
  start(handlers: TransportHandlers): void;
  /** Takes ownership of `chunks`. False: more than the high-water mark waits; `onDrain` will call. */
  write(chunks: readonly Uint8Array[]): boolean;
  pause(): void;
  resume(): void;
  /** Sends what was written, then closes. */
  end(): void;
  /** Closes at once and drops what was not sent. */
  destroy(): void;
}

export interface TransportHandlers {
  /** `bytes` may be kept: the transport does not reuse them. */
  onBytes(bytes: Uint8Array): void;
  onDrain(): void;
  /** `reason` for people: "closed by peer", "ECONNRESET". */
  onClosed(reason: string): void;
}

export interface TransportPeer {
  kind: 'tls' | 'plain' | 'unix' | 'memory';
  /** host:port, or the path of a Unix socket. */
  address: string;
}

/** Opens one transport or throws an `IopError`; resolves the address anew at every call. */
export type Dial = (signal: AbortSignal) => Promise<Transport>;
