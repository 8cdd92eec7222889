import type { Failure, StartRunRequest } from '@iop/wire';
import { refusal } from '../../operator-requests/refusals.ts';

export type BodyOutcome = { kind: 'whole'; request: StartRunRequest } | { kind: 'refused'; failure: Failure };

/** What one message may carry of a body. */
const largestPartBytes = 512 * 1024;

interface Collecting {
  request: StartRunRequest;
  parts: Uint8Array[];
  missingBytes: number;
  done(outcome: BodyOutcome): void;
}

/** Bodies that come in several messages: one at a time may be incomplete on a link, so it holds one body at most. */
export class RequestBodies {
  readonly #limitBytes: number;
  #collecting: { id: number; body: Collecting } | undefined;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Calls `done` when the body is whole, perhaps before it returns. */
  begin(id: number, request: StartRunRequest, done: (outcome: BodyOutcome) => void): void {
    const { body, bodySize } = request;
    const refused = this.#problem(request);
    if (refused !== undefined) done({ kind: 'refused', failure: refused });
    else if (bodySize <= body.length) done({ kind: 'whole', request });
    else {
      const missingBytes = bodySize - body.length;
      this.#collecting = { id, body: { request, parts: [body], missingBytes, done } };
    }
  }

  /** Parts of what was refused or never began are dropped. */
  add(id: number, data: Uint8Array): void {
    if (this.#collecting?.id !== id) return;
    const { body } = this.#collecting;
    body.missingBytes -= data.length;
    body.parts.push(data);
    if (body.missingBytes > 0) return;
    this.#collecting = undefined;
    if (body.missingBytes < 0) {
      const message = 'more of the body came than body_size announced';
      body.done({ kind: 'refused', failure: refusal('invalid', 'run.body-size', message) });
    } else body.done({ kind: 'whole', request: { ...body.request, body: Buffer.concat(body.parts) } });
  }

  #problem({ body, bodySize }: StartRunRequest): Failure | undefined {
    if (body.length > largestPartBytes) {
      const message = `the body has ${body.length} bytes in one message; send ${largestPartBytes} and the rest as OperatorBody`;
      return refusal('invalid', 'run.body-too-large', message);
    }
    if (bodySize > this.#limitBytes) {
      const message = `the body has ${bodySize} bytes; this Edge takes ${this.#limitBytes} (http.body_limit)`;
      return refusal('invalid', 'run.body-too-large', message);
    }
    if (bodySize > 0 && bodySize < body.length) {
      return refusal('invalid', 'run.body-size', `body_size is ${bodySize}, but ${body.length} bytes came`);
    }
    if (bodySize > body.length && this.#collecting !== undefined) {
      const message = 'the body of another request is not whole yet; send one after the other';
      return refusal('invalid', 'run.body-interleaved', message);
    }
    return undefined;
  }
}
