import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** What the proxy does: pass bytes, reset new connections, swallow all bytes and tell nobody, or keep them for later. */
export type ProxyMode = 'pass' | 'refuse' | 'blackhole' | 'hold';

/** up: from the dialer (a Node) to the target (an Edge). */
export type Direction = 'up' | 'down';

/** A TCP proxy on loopback that breaks things on demand. */
export interface ChaosProxy {
  readonly port: number;
  /** When connections were asked for, by `performance.now()`. */
  readonly attempts: readonly number[];
  /** Bytes that were passed on since `resetCounts`. */
  readonly passed: Readonly<Record<Direction, number>>;
  resetCounts(): void;
  /** `refuse` also cuts what is open; `blackhole` leaves it open. */
  setMode(mode: ProxyMode): void;
  /** Passes exactly `bytes` more in this direction and then cuts; resolves at the cut. Later connections pass. */
  cutAfter(direction: Direction, bytes: number): Promise<void>;
  /** Forgets a cut that has not come yet; false: there was none left. */
  disarm(): boolean;
  cutAll(): void;
  close(): Promise<void>;
}

interface Pair {
  up: Socket;
  down: Socket;
}

interface State {
  mode: ProxyMode;
  pairs: Set<Pair>;
  attempts: number[];
  passed: Record<Direction, number>;
  fuse: { direction: Direction; left: number; burnt(): void } | undefined;
}

export async function startChaosProxy(targetPort: number): Promise<ChaosProxy> {
  const state: State = {
    mode: 'pass',
    pairs: new Set(),
    attempts: [],
    passed: { up: 0, down: 0 },
    fuse: undefined,
  };
  const server = createServer((dialer) => join(state, dialer, targetPort));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    attempts: state.attempts,
    passed: state.passed,
    resetCounts: () => void Object.assign(state.passed, { up: 0, down: 0 }),
    setMode(mode) {
      state.mode = mode;
      if (mode === 'refuse') cutAll(state);
      for (const pair of state.pairs) flow(state, pair);
    },
    cutAfter: (direction, bytes) =>
      new Promise((resolve) => {
        state.fuse = { direction, left: bytes, burnt: resolve };
      }),
    disarm() {
      const wasArmed = state.fuse !== undefined;
      state.fuse = undefined;
      return wasArmed;
    },
    cutAll: () => cutAll(state),
    close: () => close(state, server),
  };
}

function join(state: State, dialer: Socket, targetPort: number): void {
  state.attempts.push(performance.now());
  dialer.on('error', () => {});
  if (state.mode === 'refuse') {
    dialer.resetAndDestroy();
    return;
  }
  const target = connect({ host: '127.0.0.1', port: targetPort, noDelay: true });
  target.on('error', () => {});
  dialer.setNoDelay(true);
  // Named by the way their bytes go: `up` is written with what the dialer sent.
  const pair: Pair = { up: target, down: dialer };
  state.pairs.add(pair);
  for (const socket of [dialer, target]) {
    socket.on('close', () => {
      if (state.mode !== 'blackhole') drop(state, pair);
    });
  }
  pump(state, 'up', dialer, pair);
  pump(state, 'down', target, pair);
  flow(state, pair);
}

/** Reads from who may be read from: nobody while bytes are held. */
function flow({ mode }: State, pair: Pair): void {
  for (const [from, to] of [
    [pair.down, pair.up],
    [pair.up, pair.down],
  ] as const) {
    if (mode === 'hold' || to.writableNeedDrain) from.pause();
    else from.resume();
  }
}

function pump(state: State, direction: Direction, from: Socket, pair: Pair): void {
  const to = pair[direction];
  from.on('data', (chunk: Buffer) => {
    if (state.mode === 'blackhole') return;
    const fuse = state.fuse?.direction === direction ? state.fuse : undefined;
    const part = fuse === undefined ? chunk : chunk.subarray(0, fuse.left);
    state.passed[direction] += part.length;
    const roomy = to.write(part);
    if (fuse !== undefined) {
      fuse.left -= part.length;
      if (fuse.left === 0) burn(state, direction);
    }
    if (roomy) return;
    from.pause();
    to.once('drain', () => flow(state, pair));
  });
}

/** The receiver gets its last bytes and a FIN; only then is everything torn down. */
function burn(state: State, direction: Direction): void {
  const { fuse } = state;
  state.fuse = undefined;
  for (const pair of state.pairs) {
    pair[direction].end();
    const held = pair;
    setTimeout(() => drop(state, held), 20);
  }
  state.pairs.clear();
  fuse?.burnt();
}

function drop(state: State, pair: Pair): void {
  state.pairs.delete(pair);
  pair.up.destroy();
  pair.down.destroy();
}

function cutAll(state: State): void {
  for (const pair of state.pairs) drop(state, pair);
}

async function close(state: State, server: Server): Promise<void> {
  state.mode = 'pass';
  cutAll(state);
  await new Promise((resolve) => server.close(resolve));
}
