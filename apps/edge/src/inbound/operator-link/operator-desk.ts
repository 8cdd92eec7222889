import type { Link } from '@iop/link';
import {
  create,
  type Failure,
  type OperatorBody,
  type OperatorRequest,
  RunClass,
  type StartRunRequest,
  StartRunResponseSchema,
  type WatchRunRequest,
} from '@iop/wire';
import type { Edge } from '../../core/edge.ts';
import { answerRequest } from '../../operator-requests/answer-request.ts';
import type { Asker, Request } from '../../operator-requests/question.ts';
import { refusal, toStartFailure } from '../../operator-requests/refusals.ts';
import { startProblem, toCreation, toIntent, toStarted } from '../../operator-requests/start-request.ts';
import { LinkWatch } from './link-watch.ts';
import { createOperatorOutlet, type OperatorOutlet } from './operator-outlet.ts';
import { OwnedRun } from './owned-run.ts';
import { RequestBodies } from './request-bodies.ts';

export interface OperatorDeskInit {
  edge: Edge;
  link: Link;
  bodyLimitBytes: number;
}

/** What goes on under the id of a request until it ends or the operator looks no longer. */
interface Open {
  leave(): void;
}

/** Each may hold a window of the Edge's memory for a link that does not drain. */
const mostOpen = 256;

/** One operator's requests, and what its link owns and watches. */
export class OperatorDesk {
  readonly #edge: Edge;
  readonly #asker: Asker;
  readonly #outlet: OperatorOutlet;
  readonly #bodies: RequestBodies;
  readonly #open = new Map<number, Open>();

  constructor({ edge, link, bodyLimitBytes }: OperatorDeskInit) {
    this.#edge = edge;
    this.#asker = { door: 'native', name: link.peer.name };
    this.#outlet = createOperatorOutlet(link);
    this.#bodies = new RequestBodies(bodyLimitBytes);
  }

  ask({ id, request }: OperatorRequest): void {
    if (request.case === undefined) {
      const message = 'this request is unknown here; one side is older than the other';
      this.#refuse(id, refusal('unsupported', 'operator.unknown-request', message));
    } else if (request.case === 'startRun') {
      this.#bodies.begin(id, request.value, (outcome) => {
        if (outcome.kind === 'whole') this.#start(id, outcome.request);
        else this.#refuse(id, outcome.failure);
      });
    } else if (request.case === 'watchRun') void this.#watch(id, request.value);
    else this.#answer(id, request);
  }

  bodyPart({ id, data }: OperatorBody): void {
    this.#bodies.add(id, data);
  }

  leave(id: number): void {
    const open = this.#open.get(id);
    this.#open.delete(id);
    open?.leave();
  }

  leaveAll(): void {
    for (const id of [...this.#open.keys()]) this.leave(id);
  }

  drained(): void {
    this.#outlet.drained();
  }

  #answer(id: number, request: Request): void {
    void answerRequest(this.#edge, request, this.#asker).then((response) =>
      this.#outlet.answer(id, response),
    );
  }

  #start(id: number, request: StartRunRequest): void {
    if (request.runClass === RunClass.DETACHED) {
      this.#answer(id, { case: 'startRun', value: request });
      return;
    }
    const problem = startProblem(this.#edge, request) ?? this.#cannotOpen(id);
    if (problem !== undefined) this.#refuse(id, problem);
    else if (request.idempotencyKey === '') this.#own(id, request);
    else void this.#ownByKey(id, request);
  }

  #own(id: number, request: StartRunRequest): void {
    const owned = new OwnedRun(id, this.#outlet, () => this.#open.delete(id));
    const outcome = this.#edge.start(toIntent(request, this.#asker), owned);
    if (outcome.kind !== 'accepted') {
      this.#refuse(id, toStartFailure(outcome));
      return;
    }
    const { run } = outcome;
    this.#open.set(id, owned);
    this.#outlet.answer(id, { case: 'startRun', value: create(StartRunResponseSchema, { runId: run.id }) });
    owned.opened(run);
  }

  /** A repeat owns the same run as the one before it, from the first event. */
  async #ownByKey(id: number, request: StartRunRequest): Promise<void> {
    const watch = this.#place(id);
    const started = toStarted(await this.#edge.create(toCreation(request, this.#asker)));
    if (started.case !== 'startRun') {
      this.#open.delete(id);
      this.#outlet.answer(id, started);
      return;
    }
    const { runId } = started.value;
    await watch.open(this.#edge, { runId, afterPos: 0, owns: true }, () => started);
  }

  async #watch(id: number, { runId, afterPos }: WatchRunRequest): Promise<void> {
    const problem = this.#cannotOpen(id);
    if (problem !== undefined) {
      this.#refuse(id, problem);
      return;
    }
    await this.#place(id).open(this.#edge, { runId, afterPos, owns: false }, (value) => ({
      case: 'watchRun',
      value,
    }));
  }

  #place(id: number): LinkWatch {
    const watch = new LinkWatch(id, this.#outlet, () => this.#open.delete(id));
    this.#open.set(id, watch);
    return watch;
  }

  #cannotOpen(id: number): Failure | undefined {
    if (this.#open.has(id)) {
      return refusal('invalid', 'operator.id-used', `request id ${id} is that of a run that still goes on`);
    }
    if (this.#open.size < mostOpen) return undefined;
    const message = `a link may have ${mostOpen} runs and watches open; end some, or use another link`;
    return refusal('exhausted', 'operator.too-many-watches', message);
  }

  #refuse(id: number, failure: Failure): void {
    this.#outlet.answer(id, { case: 'failure', value: failure });
  }
}
