import { toIopError } from '@iop/domain';
import {
  create,
  type Failure,
  OperatorStopSchema,
  type OperatorUpdate,
  OperatorUpdateSchema,
  toFailure,
} from '@iop/wire';
import type { OperatorEdge } from '../../operator-requests/question.ts';
import { refusal } from '../../operator-requests/refusals.ts';
import { RunWatch, type WatchOutcome, type WatchSink } from '../../operator-requests/run-watch.ts';
import type { HttpPort } from '../http/http-port.ts';
import { Outlet } from '../http/outlet.ts';
import { ApiCall, invalid } from './api-call.ts';
import { toRefusal } from './api-style.ts';
import { messageJson } from './response-json.ts';

const head = ['content-type', 'text/event-stream', 'cache-control', 'no-cache', 'x-accel-buffering', 'no'];
const comment = Buffer.from(': watching\n\n');

/**
 * A run as server-sent events: each an OperatorUpdate with the pos that it reaches to as `id`, at last a `stop`. What
 * the connection has not taken is not asked of the log: a caller that does not read costs a window and holds up nobody.
 */
export function watchRun(port: HttpPort, edge: OperatorEdge, call: ApiCall): void {
  void openWatch(port, edge, call).catch((reason: unknown) => {
    const { exchange } = call;
    if (!exchange.isOver) exchange.refuse(toRefusal(toFailure(toIopError(reason))));
  });
}

async function openWatch(port: HttpPort, edge: OperatorEdge, call: ApiCall): Promise<void> {
  const { exchange } = call;
  const afterPos = afterPosOf(call);
  const stream = new WatchStream(port, call);
  const outcome = await RunWatch.open(edge, { runId: call.id, afterPos, owns: false }, stream);
  if (exchange.isOver) {
    if (outcome.kind === 'opened') outcome.watch.close();
  } else if (outcome.kind === 'refused') exchange.refuse(toRefusal(outcome.failure));
  // by this status a browser knows that it need not come back
  else if (outcome.kind === 'at-end') exchange.empty(204, []);
  else stream.begin(outcome);
}

/** Whoever comes back says in a header up to where it was; that is newer than the URL. */
function afterPosOf(call: ApiCall): number {
  const header = call.exchange.req.headers['last-event-id'];
  if (typeof header !== 'string') return call.number('after_pos', ApiCall.mostPos);
  if (/^\d{1,10}$/.test(header) && Number(header) <= ApiCall.mostPos) return Number(header);
  throw invalid(
    'request.last-event-id',
    `Last-Event-ID is the id of an event of this watch, not ${header.slice(0, 40)}`,
  );
}

class WatchStream implements WatchSink {
  readonly #port: HttpPort;
  readonly #call: ApiCall;
  readonly #outlet: Outlet;
  #watch: RunWatch | undefined;
  #cancelBeat: () => void = () => {};
  #forgetClosing: () => void = () => {};

  constructor(port: HttpPort, call: ApiCall) {
    this.#port = port;
    this.#call = call;
    const consumed = (sizeBytes: number) => this.#watch?.consumed(sizeBytes);
    this.#outlet = new Outlet({ exchange: call.exchange, clock: port.clock, fields: head, consumed });
  }

  begin({ watch }: Extract<WatchOutcome, { kind: 'opened' }>): void {
    this.#watch = watch;
    const { exchange } = this.#call;
    exchange.runId = this.#call.id;
    exchange.onGone = () => this.#leave();
    this.#forgetClosing = this.#port.whenClosing(() => {
      watch.close();
      this.done(refusal('unavailable', 'edge.stopping', 'the Edge is stopping; watch on when it is back'));
    });
    this.#outlet.push(comment);
    this.#beat();
    watch.begin();
  }

  update(
    update: OperatorUpdate['update'],
    { sizeBytes, lastPos }: { sizeBytes: number; lastPos: number },
  ): void {
    const json = JSON.stringify(messageJson(OperatorUpdateSchema, create(OperatorUpdateSchema, { update })));
    this.#outlet.push(Buffer.from(`id: ${lastPos}\ndata: ${json}\n\n`));
    if (sizeBytes > 0) this.#outlet.owe(sizeBytes);
  }

  done(failure: Failure | undefined): void {
    this.#leave();
    const stop = create(OperatorStopSchema, failure === undefined ? {} : { failure });
    this.#outlet.finish(
      Buffer.from(`event: stop\ndata: ${JSON.stringify(messageJson(OperatorStopSchema, stop))}\n\n`),
    );
  }

  #leave(): void {
    this.#cancelBeat();
    this.#forgetClosing();
    this.#watch?.close();
  }

  #beat(): void {
    const { clock, times } = this.#port;
    const isDue = this.#outlet.silenceMs() >= times.heartbeatMs;
    if (isDue && !this.#outlet.isBlocked) this.#outlet.push(comment);
    this.#cancelBeat = clock.after(times.heartbeatMs, () => this.#beat());
  }
}
