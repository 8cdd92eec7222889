import type { Socket } from 'node:net';
import { type buildConnector, Client } from 'undici';

export interface PoolOptions {
  /** Scheme, host and port. */
  origin: string;
  connector: buildConnector.connector;
}

/** Servers of this kind close idle connections after 5 s; we do it first. */
const keepAliveMs = 4000;
const maxIdle = 128;

/**
 * The connections of one adapter instance: one undici client a connection, so that it is known of
 * every request whether its connection was used before, and closing one touches no other.
 *
 * P1: a client is in the hands of at most one call.
 * P2: the one used last is used next: few connections stay warm, the others time out.
 */
export class UpstreamPool {
  readonly #options: PoolOptions;
  readonly #idle: PooledClient[] = [];
  readonly #all = new Set<PooledClient>();
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  acquire(): PooledClient {
    return this.#idle.pop() ?? this.acquireFresh();
  }

  /** A connection that no request has used. */
  acquireFresh(): PooledClient {
    const pooled = new PooledClient(this.#options, () => this.#forgetIdle(pooled));
    this.#all.add(pooled);
    return pooled;
  }

  /** Its answer was read to the end. */
  release(pooled: PooledClient): void {
    pooled.served++;
    if (this.#isClosed || this.#idle.length >= maxIdle) this.discard(pooled);
    else this.#idle.push(pooled);
  }

  /** Closes its connection at once. */
  discard(pooled: PooledClient): void {
    this.#all.delete(pooled);
    pooled.destroy();
  }

  close(): void {
    this.#isClosed = true;
    this.#idle.length = 0;
    for (const pooled of this.#all) this.discard(pooled);
  }

  #forgetIdle(pooled: PooledClient): void {
    const at = this.#idle.indexOf(pooled);
    if (at === -1) return;
    this.#idle.splice(at, 1);
    this.discard(pooled);
  }
}

export class PooledClient {
  readonly client: Client;
  /** Answers that the connection of this moment has carried. */
  served = 0;
  #connecting: Socket | undefined;

  constructor(options: PoolOptions, onDisconnect: () => void) {
    this.client = new Client(options.origin, {
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      // Silence is watched by the adapter, which knows what it asked for.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: this.#connect(options.connector),
    });
    this.client.on('connect', () => {
      this.served = 0;
      this.#connecting = undefined;
    });
    this.client.on('disconnect', onDisconnect);
  }

  destroy(): void {
    const reason = new Error('closed by this Node');
    this.client.destroy(reason).catch(() => {});
    this.#connecting?.destroy(reason);
  }

  #connect(connector: buildConnector.connector): buildConnector.connector {
    return (options, callback) => {
      this.#connecting = connector(options, callback) as unknown as Socket | undefined;
      return this.#connecting as unknown as undefined;
    };
  }
}
