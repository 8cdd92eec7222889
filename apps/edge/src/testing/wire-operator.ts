import { attemptLink, type Dial, type Link, type LinkMessage } from '@iop/link';
import { createIdentityPem, loadIdentity, nodeCrypto } from '@iop/link/tcp';
import { createSystemClock } from '@iop/shell';
import {
  create,
  type OperatorRequest,
  OperatorRequestSchema,
  type OperatorResponse,
  OperatorStopSchema,
  Role,
  RunClass,
  type RunUpdate,
  StartRunRequestSchema,
} from '@iop/wire';
import { until } from './wire-world.ts';

/** An operator as the Edge sees it: raw requests on a real socket. */
export interface WireOperator {
  /** `linked`, or the code with which the Edge refused. */
  readonly outcome: string;
  readonly link: Link;
  /** Everything that came, oldest first. */
  readonly received: LinkMessage[];
  ask(request: OperatorRequest['request'], id?: number): Promise<OperatorResponse['response']>;
  updates(id: number): RunUpdate[];
  stop(id: number): void;
  send(message: LinkMessage): void;
}

export interface WireOperatorOptions {
  dial: Dial;
  pins: readonly string[];
  token: string;
}

export async function linkOperator(options: WireOperatorOptions): Promise<WireOperator> {
  const received: LinkMessage[] = [];
  let lastId = 100;
  const outcome = await attemptLink(
    {
      ...options,
      identity: loadIdentity(createIdentityPem()),
      crypto: nodeCrypto,
      clock: createSystemClock(),
      token: () => options.token,
      hello: () => ({
        role: Role.OPERATOR,
        name: 'alice',
        instance: nodeCrypto.randomBytes(16),
        lastEpoch: 0,
        build: 'wire-operator',
      }),
      onLink: () => ({ onMessage: (message) => void received.push(message), onClosed() {} }),
    },
    AbortSignal.timeout(20_000),
  );
  const link = outcome.kind === 'linked' ? outcome.link : undefined;
  return {
    outcome: outcome.kind === 'rejected' ? outcome.code : outcome.kind,
    get link() {
      if (link === undefined) throw new Error('not linked');
      return link;
    },
    received,
    async ask(request, id = ++lastId) {
      link?.send({ case: 'operatorRequest', value: create(OperatorRequestSchema, { id, request }) });
      const answers = () =>
        received.flatMap((each) =>
          each.case === 'operatorResponse' && each.value.id === id ? [each.value] : [],
        );
      await until(`answer ${id}`, () => answers().length > 0);
      return answers()[0]?.response ?? { case: undefined };
    },
    updates: (id) =>
      received.flatMap((each) =>
        each.case === 'operatorUpdate' && each.value.id === id && each.value.update.case === 'run'
          ? [each.value.update.value]
          : [],
      ),
    stop: (id) => link?.send({ case: 'operatorStop', value: create(OperatorStopSchema, { id }) }),
    send: (message) => link?.send(message),
  };
}

export function startRequest(over: Partial<Parameters<typeof toStart>[0]> = {}) {
  return { case: 'startRun', value: toStart(over) } as const;
}

function toStart(over: {
  adapter?: string;
  target?: string;
  node?: string;
  dialect?: string;
  body?: Uint8Array;
  runClass?: RunClass;
}) {
  return create(StartRunRequestSchema, {
    adapter: 'mock',
    target: 'echo',
    dialect: 'iop.prompt',
    body: new TextEncoder().encode('hello'),
    stream: true,
    runClass: RunClass.ATTACHED,
    ...over,
  });
}
