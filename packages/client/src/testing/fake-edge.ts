import { randomBytes } from 'node:crypto';
import type { Clock } from '@iop/domain';
import { createAcceptor, type Link, type LinkHandlers } from '@iop/link';
import {
  createIdentityPem,
  type Listener,
  listenTcp,
  listenUnix,
  loadIdentity,
  nodeCrypto,
} from '@iop/link/tcp';
import {
  create,
  type OperatorRequest,
  type OperatorResponse,
  OperatorResponseSchema,
  OperatorStopSchema,
  OperatorUpdateSchema,
  type RunEvent,
  type RunState,
  RunUpdateSchema,
} from '@iop/wire';

/** How the fake answers one request. */
export interface FakeReply {
  answer(response: OperatorResponse['response']): void;
  update(runId: string, state: RunState, firstPos: number, events?: RunEvent[]): void;
  stop(): void;
  /** Cuts the link without a word. */
  cut(): void;
}

export interface FakeEdgeOptions {
  /** A Unix socket, or TCP with TLS on a free port of the loopback where it is absent. */
  socketPath?: string;
  /** Over TCP only this token is taken. */
  token?: string;
  clock: Clock;
  onRequest(request: OperatorRequest, reply: FakeReply): void;
  /** The operator looks no longer. */
  onStop?(id: number): void;
}

export interface FakeEdge {
  readonly port: number;
  readonly pin: string;
  close(): Promise<void>;
}

/** An Edge as operators see it, on a real socket, that answers what a test tells it to. */
export async function startFakeEdge(options: FakeEdgeOptions): Promise<FakeEdge> {
  const identity = loadIdentity(createIdentityPem());
  const acceptor = createAcceptor({
    identity,
    name: 'fake',
    serverInstance: randomBytes(16),
    crypto: nodeCrypto,
    clock: options.clock,
    async admit({ token }) {
      if (options.token === undefined || token === options.token) {
        return { kind: 'welcome', epoch: 1, heartbeatIntervalMs: 10_000, fleetSize: 1 };
      }
      return { kind: 'reject', code: 'identity.token-wrong', message: 'the token is wrong', retryAfterMs: 0 };
    },
    onLink: (link) => serve(link, options),
  });
  const listener = await listen(options, { identity, onTransport: acceptor.accept });
  return {
    port: listener.address.port,
    pin: nodeCrypto.pinOf(identity.publicKey),
    async close() {
      acceptor.close('test over', 0);
      await listener.close();
    },
  };
}

type ListenOptions = Pick<Parameters<typeof listenTcp>[0], 'identity' | 'onTransport'>;

function listen(
  { socketPath }: FakeEdgeOptions,
  { identity, onTransport }: ListenOptions,
): Promise<Listener> {
  if (socketPath !== undefined) return listenUnix({ path: socketPath, onTransport });
  return listenTcp({ host: '127.0.0.1', port: 0, tls: true, identity, onTransport });
}

function serve(link: Link, options: FakeEdgeOptions): LinkHandlers {
  return {
    onMessage(message) {
      if (message.case === 'operatorStop') options.onStop?.(message.value.id);
      if (message.case === 'operatorRequest')
        options.onRequest(message.value, replyTo(link, message.value.id));
    },
    onClosed: () => {},
  };
}

function replyTo(link: Link, id: number): FakeReply {
  return {
    answer: (response) =>
      link.send({ case: 'operatorResponse', value: create(OperatorResponseSchema, { id, response }) }),
    update: (runId, state, firstPos, events = []) => {
      const run = create(RunUpdateSchema, { runId, state, node: 'n1', firstPos, events });
      link.send({
        case: 'operatorUpdate',
        value: create(OperatorUpdateSchema, { id, update: { case: 'run', value: run } }),
      });
    },
    stop: () => link.send({ case: 'operatorStop', value: create(OperatorStopSchema, { id }) }),
    cut: () => link.destroy('cut by the test'),
  };
}
