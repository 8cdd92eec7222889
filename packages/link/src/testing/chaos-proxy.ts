import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** `up`: from the one who dialled to the target. */
export type Direction = 'up' | 'down';

export interface ChaosKnobs {
  /** Both sockets are reset once so many bytes have passed in a direction; counted for each connection. */
  cutAfterBytes?: Partial<Record<Direction, number>>;
  /** Each way. */
  latencyMs?: number;
  /** A close on one side is told to the other only after this. */
  slowCloseMs?: number;
}

export interface ChaosProxy {
  readonly address: { host: string; port: number };
  /** Of connections accepted from now on. */
  target: { host: string; port: number };
  /** Of connections accepted from now on. */
  knobs: ChaosKnobs;
  /** Called after each; may change `knobs` and `target` for the next. */
  onAccepted: () => void;
  /** Connections so far. */
  readonly accepted: number;
  /** Bytes that have passed, over all connections. */
  readonly passed: Readonly<Record<Direction, number>>;
  /** Existing and new connections swallow everything, and nobody is told of anything: a half-open link. */
  blackhole(): void;
  heal(): void;
  /** Resets every connection. */
  cut(): void;
  close(): Promise<void>;
}

/** A TCP proxy on loopback that misbehaves on demand. */
export async function openChaosProxy(
  target: ChaosProxy['target'],
  knobs: ChaosKnobs = {},
): Promise<ChaosProxy> {
  const pipes = new Set<Pipe>();
  const passed = { up: 0, down: 0 };
  let swallows = false;
  let accepted = 0;
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (near) => {
    accepted++;
    const far = connect({ ...proxy.target, noDelay: true, allowHalfOpen: true });
    const pipe = new Pipe(near, far, { knobs: proxy.knobs, passed, isSwallowing: () => swallows });
    pipes.add(pipe);
    pipe.onGone = () => pipes.delete(pipe);
    proxy.onAccepted();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { address, port } = server.address() as AddressInfo;
  const proxy: ChaosProxy = {
    address: { host: address, port },
    target,
    knobs,
    onAccepted: () => {},
    get accepted() {
      return accepted;
    },
    passed,
    blackhole: () => {
      swallows = true;
    },
    heal: () => {
      swallows = false;
    },
    cut: () => {
      for (const pipe of pipes) pipe.reset();
    },
    close: () => {
      for (const pipe of pipes) pipe.reset();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;
}

interface PipeSettings {
  knobs: ChaosKnobs;
  passed: Record<Direction, number>;
  isSwallowing(): boolean;
}

/** One connection: two sockets and what happens between them. */
class Pipe {
  onGone: () => void = () => {};
  readonly #settings: PipeSettings;
  readonly #ends: Record<Direction, Socket>;
  readonly #count = { up: 0, down: 0 };

  constructor(near: Socket, far: Socket, settings: PipeSettings) {
    this.#settings = settings;
    this.#ends = { up: far, down: near };
    this.#join(near, far, 'up');
    this.#join(far, near, 'down');
  }

  reset(): void {
    for (const socket of Object.values(this.#ends)) hangUp(socket);
    this.onGone();
  }

  #join(from: Socket, to: Socket, direction: Direction): void {
    const { knobs, isSwallowing } = this.#settings;
    from.on('data', (bytes: Buffer) => {
      if (!isSwallowing()) this.#later(() => this.#pass(bytes, to, direction));
    });
    from.on('error', () => {});
    from.on('end', () => {
      if (!isSwallowing()) setTimeout(() => to.end(), knobs.slowCloseMs ?? 0);
    });
    from.on('close', () => {
      if (isSwallowing()) return;
      setTimeout(() => to.destroy(), knobs.slowCloseMs ?? 0);
      this.onGone();
    });
  }

  #pass(bytes: Buffer, to: Socket, direction: Direction): void {
    const { knobs, passed } = this.#settings;
    const limit = knobs.cutAfterBytes?.[direction] ?? Number.POSITIVE_INFINITY;
    const part = bytes.subarray(0, Math.max(0, limit - this.#count[direction]));
    this.#count[direction] += part.length;
    passed[direction] += part.length;
    if (this.#count[direction] < limit) {
      to.write(part);
      return;
    }
    // What passed has to arrive before the reset, or the cut would be somewhere else.
    if (part.length > 0) to.write(part, () => setTimeout(() => this.reset(), 1));
    else this.reset();
  }

  #later(act: () => void): void {
    const { latencyMs = 0 } = this.#settings.knobs;
    if (latencyMs === 0) act();
    else setTimeout(act, latencyMs);
  }
}

/**
 * With a reset where that is possible. After `end` libuv refuses one, and Node 26 then loses the handle: the
 * process spins for ever at its exit.
 */
function hangUp(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
