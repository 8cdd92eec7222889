import type { Link, LinkHandlers } from '@iop/link';
import { isDialect } from '@iop/runtime';
import type { Log } from '@iop/shell';
import {
  create,
  type Failure,
  type OperatorRequest,
  ProtocolErrorSchema,
  RunClass,
  type StartRunRequest,
  StartRunResponseSchema,
} from '@iop/wire';
import type { RunIntent } from '../../core/door.ts';
import type { Edge } from '../../core/edge.ts';
import { createOperatorOutlet, type OperatorOutlet } from './operator-outlet.ts';
import { answerRequest } from './operator-requests.ts';
import { OwnedRun } from './owned-run.ts';
import { refusal, toStartFailure } from './refusals.ts';

export interface OperatorLinksDeps {
  edge: Edge;
  log: Log;
}

/** Takes links of operators, over TCP and the local socket alike. */
export function createOperatorLinks({ edge, log }: OperatorLinksDeps): { open(link: Link): LinkHandlers } {
  return {
    open(link) {
      const who = { operator: link.peer.name, address: link.peer.transport.address };
      log.debug(who, 'operator linked');
      const desk = new OperatorDesk(edge, link);
      return {
        onMessage(message) {
          if (message.case === 'operatorRequest') desk.ask(message.value);
          else if (message.case === 'operatorStop') desk.leave(message.value.id);
          else if (message.case !== 'protocolError') complain(link, message.case);
        },
        onDrain: () => desk.drained(),
        onClosed(outcome) {
          log.debug({ ...who, why: outcome.kind }, 'operator link closed');
          desk.leaveAll();
        },
      };
    },
  };
}

function complain(link: Link, kind: string): void {
  const value = {
    code: 'protocol.unexpected-message',
    message: `an operator does not send ${kind}`,
    fatal: false,
  };
  link.send({ case: 'protocolError', value: create(ProtocolErrorSchema, value) });
}

/** Larger bodies come with the detached runs. */
const largestBodyBytes = 512 * 1024;

/** One operator's requests, and the runs that its link owns. */
class OperatorDesk {
  readonly #edge: Edge;
  readonly #link: Link;
  readonly #outlet: OperatorOutlet;
  readonly #runs = new Map<number, OwnedRun>();

  constructor(edge: Edge, link: Link) {
    this.#edge = edge;
    this.#link = link;
    this.#outlet = createOperatorOutlet(link);
  }

  ask({ id, request }: OperatorRequest): void {
    if (request.case === undefined) {
      const message = 'this request is unknown here; one side is older than the other';
      this.#refuse(id, refusal('unsupported', 'operator.unknown-request', message));
    } else if (request.case === 'startRun') {
      this.#start(id, request.value);
    } else {
      void answerRequest(this.#edge, request).then((response) => this.#outlet.answer(id, response));
    }
  }

  leave(id: number): void {
    const run = this.#runs.get(id);
    this.#runs.delete(id);
    run?.leave();
  }

  leaveAll(): void {
    for (const id of [...this.#runs.keys()]) this.leave(id);
  }

  drained(): void {
    this.#outlet.drained();
  }

  #start(id: number, request: StartRunRequest): void {
    const problem = problemOf(request) ?? (this.#runs.has(id) ? usedTwice(id) : undefined);
    if (problem !== undefined) {
      this.#refuse(id, problem);
      return;
    }
    const owned = new OwnedRun(id, this.#outlet, () => this.#runs.delete(id));
    const outcome = this.#edge.start(toIntent(request, this.#link.peer.name), owned);
    if (outcome.kind !== 'accepted') {
      this.#refuse(id, toStartFailure(outcome));
      return;
    }
    const { run } = outcome;
    this.#runs.set(id, owned);
    this.#outlet.answer(id, { case: 'startRun', value: create(StartRunResponseSchema, { runId: run.id }) });
    owned.opened(run);
  }

  #refuse(id: number, failure: Failure): void {
    this.#outlet.answer(id, { case: 'failure', value: failure });
  }
}

function toIntent(request: StartRunRequest, operator: string): RunIntent {
  const { adapter, target, node, dialect, body, stream, includeUsage, deadlineMs } = request;
  const select = { kind: 'target', adapter, target, ...(node === '' ? {} : { node }) } as const;
  return {
    door: 'native',
    keyId: operator,
    select,
    dialect: isDialect(dialect) ? dialect : 'iop.prompt',
    body,
    stream,
    includeUsage,
    ...(deadlineMs === 0 ? {} : { deadlineMs }),
  };
}

function problemOf(request: StartRunRequest): Failure | undefined {
  if (request.adapter === '' || request.target === '') {
    return refusal('invalid', 'run.target-missing', 'a run needs an adapter and a target');
  }
  if (!isDialect(request.dialect)) {
    const message = `no dialect "${request.dialect.slice(0, 40)}" is known here; try openai.chat or iop.prompt`;
    return refusal('invalid', 'run.dialect-unknown', message);
  }
  if (request.body.length > largestBodyBytes) {
    const message = `the body has ${request.body.length} bytes; an operator may send ${largestBodyBytes}`;
    return refusal('invalid', 'run.body-too-large', message);
  }
  if (request.runClass === RunClass.DETACHED) {
    return refusal('unsupported', 'run.detached', 'detached runs are not served yet; start it attached');
  }
  return undefined;
}

function usedTwice(id: number): Failure {
  return refusal('invalid', 'operator.id-used', `request id ${id} is that of a run that still goes on`);
}
