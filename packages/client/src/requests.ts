import { type Clock, IopError } from '@iop/domain';
import type { Link, LinkHandlers, LinkMessage, LinkOutcome } from '@iop/link';
import {
  create,
  failureToError,
  OperatorBodySchema,
  type OperatorRequest,
  OperatorRequestSchema,
  type OperatorResponse,
  OperatorStopSchema,
  type OperatorUpdate,
} from '@iop/wire';

export type RequestCase = Exclude<OperatorRequest['request'], { case: undefined }>;
type AnswerCase = Exclude<OperatorResponse['response'], { case: undefined }>;
export type AnswerOf<C extends AnswerCase['case']> = Extract<AnswerCase, { case: C }>['value'];

/** Where the updates of a watch go. */
export interface WatchHandlers {
  /** What follows the request: of the body of a start. */
  parts?: readonly Uint8Array[];
  onUpdate(update: OperatorUpdate['update']): void;
  /** The Edge has said all, or (with a reason) can say no more. Exactly once. */
  onStopped(reason: IopError | undefined): void;
}

interface Pending {
  resolve(response: OperatorResponse['response']): void;
  reject(reason: IopError): void;
}

interface Sending {
  id: number;
  request: RequestCase;
  wanted: AnswerCase['case'];
  parts: readonly Uint8Array[];
}

const answerWithinMs = 30_000;

/** Requests and watches of one operator over one link, told apart by their ids. */
export class OperatorRequests {
  readonly #clock: Clock;
  readonly #pending = new Map<number, Pending>();
  readonly #watches = new Map<number, WatchHandlers>();
  #link: Link | undefined;
  #lost: IopError | undefined;
  #lastId = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Called once, with the link that carries everything. */
  open(link: Link): LinkHandlers {
    this.#link = link;
    return {
      onMessage: (message) => this.#receive(message),
      onClosed: (outcome) => this.#fail(lossOf(outcome, link.peer.name)),
    };
  }

  /**
   * Asks and gives the answer of the wanted kind. `parts` are what follows the request: of the body of a start.
   * @throws IopError the failure that the Edge answered; `unavailable` when the link is lost;
   *   `timeout` when no answer came within 30 s
   */
  async ask<C extends AnswerCase['case']>(
    request: RequestCase,
    wanted: C,
    parts: readonly Uint8Array[] = [],
  ): Promise<AnswerOf<C>> {
    return (await this.#send({ id: this.#nextId(), request, wanted, parts })) as AnswerOf<C>;
  }

  /** Asks for a watch; updates may come in the same tick as the answer. */
  async watch<C extends AnswerCase['case']>(
    request: RequestCase,
    wanted: C,
    handlers: WatchHandlers,
  ): Promise<{ answer: AnswerOf<C>; stop(): void }> {
    const id = this.#nextId();
    this.#watches.set(id, handlers);
    try {
      const { parts = [] } = handlers;
      const answer = (await this.#send({ id, request, wanted, parts })) as AnswerOf<C>;
      return { answer, stop: () => this.#stop(id) };
    } catch (reason) {
      this.#watches.delete(id);
      throw reason;
    }
  }

  close(): void {
    this.#link?.close('the operator is done');
  }

  #nextId(): number {
    this.#lastId++;
    return this.#lastId;
  }

  #send({ id, request, wanted, parts }: Sending): Promise<AnswerCase['value']> {
    const link = this.#link;
    if (this.#lost !== undefined || link === undefined) return Promise.reject(this.#lost ?? notOpen());
    return new Promise((resolve, reject) => {
      const cancelTimeout = this.#clock.after(answerWithinMs, () =>
        settle(() => reject(noAnswer(link.peer.name))),
      );
      const settle = (act: () => void): void => {
        cancelTimeout();
        this.#pending.delete(id);
        act();
      };
      this.#pending.set(id, {
        reject: (reason) => settle(() => reject(reason)),
        resolve: (response) => settle(() => resolveAs(response, wanted, { resolve, reject })),
      });
      link.send({ case: 'operatorRequest', value: create(OperatorRequestSchema, { id, request }) });
      for (const data of parts)
        link.send({ case: 'operatorBody', value: create(OperatorBodySchema, { id, data }) });
    });
  }

  #receive(message: LinkMessage): void {
    if (message.case === 'operatorResponse')
      this.#pending.get(message.value.id)?.resolve(message.value.response);
    if (message.case === 'operatorUpdate')
      this.#watches.get(message.value.id)?.onUpdate(message.value.update);
    if (message.case === 'operatorStop') {
      const { id, failure } = message.value;
      this.#end(id, failure && failureToError(failure));
    }
  }

  #stop(id: number): void {
    if (!this.#watches.delete(id)) return;
    this.#link?.send({ case: 'operatorStop', value: create(OperatorStopSchema, { id }) });
  }

  #end(id: number, reason: IopError | undefined): void {
    const watch = this.#watches.get(id);
    this.#watches.delete(id);
    watch?.onStopped(reason);
  }

  #fail(reason: IopError): void {
    this.#lost = reason;
    for (const pending of [...this.#pending.values()]) pending.reject(reason);
    for (const id of [...this.#watches.keys()]) this.#end(id, reason);
  }
}

interface Settle {
  resolve(value: AnswerCase['value']): void;
  reject(reason: IopError): void;
}

function resolveAs(response: OperatorResponse['response'], wanted: AnswerCase['case'], settle: Settle): void {
  if (response.case === 'failure') settle.reject(failureToError(response.value));
  else if (response.case === wanted) settle.resolve(response.value);
  else settle.reject(wrongAnswer(wanted, response.case));
}

function lossOf(outcome: LinkOutcome, edge: string): IopError {
  const why =
    outcome.kind === 'silent' ? `it was silent for ${Math.round(outcome.silentMs)} ms` : outcome.reason;
  return new IopError({
    kind: 'unavailable',
    code: 'operator.link-lost',
    message: `the link to the Edge ${edge} is gone: ${why}; see whether it runs, then ask again`,
    details: { edge },
  });
}

function noAnswer(edge: string): IopError {
  return new IopError({
    kind: 'timeout',
    code: 'operator.no-answer',
    message: `the Edge ${edge} did not answer within ${answerWithinMs / 1_000} s`,
    details: { edge },
  });
}

function wrongAnswer(wanted: string, got: string | undefined): IopError {
  return new IopError({
    kind: 'unsupported',
    code: 'operator.wrong-answer',
    message: `the Edge answered ${got ?? 'in a way that is not known here'} instead of ${wanted}; its version may be another`,
  });
}

function notOpen(): IopError {
  return new IopError({ kind: 'internal', code: 'operator.not-open', message: 'no link was opened' });
}
