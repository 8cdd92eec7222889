import type { RunState } from '@iop/domain';
import {
  CancelRunRequestSchema,
  create,
  DeleteRunRequestSchema,
  fromWireRunState,
  type OperatorUpdate,
  ReadRunRequestSchema,
  type RunEvent,
  WatchRunRequestSchema,
  WhyRunRequestSchema,
} from '@iop/wire';
import type { OperatorRequests } from './requests.ts';
import { runClasses, splitBody, toStartRequest } from './start-request.ts';
import type { RunOrder, StartedRun, WatchedRun } from './started-run.ts';
import { UpdateQueue } from './update-queue.ts';
import { type RunView, toRunView } from './views.ts';
import { toWhyView, type WhyView } from './why-view.ts';

/** What an operator can ask about single runs. */
export interface RunRequests {
  /** Gives its state when the cancel was taken; `stopping` until the work has stopped. */
  cancelRun(runId: string): Promise<RunState>;
  startRun(order: RunOrder): Promise<StartedRun>;
  /** The run is durable when this resolves, and cares for nobody's connection. `repeated`: it is that of the same idempotency key before. */
  startDetached(order: RunOrder): Promise<{ runId: string; repeated: boolean }>;
  /** @param afterPos 0: from the first event */
  watchRun(runId: string, afterPos?: number): Promise<WatchedRun>;
  /** A page of its log as it is now; no events: nothing is there after `afterPos`, any more or yet. */
  readRun(runId: string, page?: { afterPos?: number; limitBytes?: number }): Promise<RunPage>;
  whyRun(runId: string): Promise<WhyView>;
  /** Forgets content and request of an ended run; its record stays. */
  deleteRun(runId: string): Promise<void>;
}

export interface RunPage {
  run: RunView;
  /** pos of `events[0]`; more than asked for: what lies between is gone. */
  firstPos: number;
  events: RunEvent[];
}

export function createRunRequests(requests: OperatorRequests): RunRequests {
  return {
    cancelRun: (runId) => cancelRun(requests, runId),
    startRun: (order) => startRun(requests, order),
    async startDetached(order) {
      const { request, parts } = splitBody(toStartRequest(order, runClasses.detached));
      const { runId, repeated } = await requests.ask({ case: 'startRun', value: request }, 'startRun', parts);
      return { runId, repeated };
    },
    watchRun: (runId, afterPos = 0) => watchRun(requests, runId, afterPos),
    async readRun(runId, { afterPos = 0, limitBytes = 0 } = {}) {
      const value = create(ReadRunRequestSchema, { runId, afterPos, limitBytes });
      const { run, firstPos, events } = await requests.ask({ case: 'readRun', value }, 'readRun');
      return { run: viewOf(run), firstPos, events };
    },
    async whyRun(runId) {
      const value = create(WhyRunRequestSchema, { runId });
      return toWhyView(await requests.ask({ case: 'whyRun', value }, 'whyRun'));
    },
    async deleteRun(runId) {
      const value = create(DeleteRunRequestSchema, { runId });
      await requests.ask({ case: 'deleteRun', value }, 'deleteRun');
    },
  };
}

async function cancelRun(requests: OperatorRequests, runId: string): Promise<RunState> {
  const value = create(CancelRunRequestSchema, { runId });
  return fromWireRunState((await requests.ask({ case: 'cancelRun', value }, 'cancelRun')).state);
}

async function startRun(requests: OperatorRequests, order: RunOrder): Promise<StartedRun> {
  const updates = new UpdateQueue(true);
  const { request, parts } = splitBody(toStartRequest(order, runClasses.attached));
  const { answer, stop } = await requests.watch({ case: 'startRun', value: request }, 'startRun', {
    ...handlersOf(updates),
    parts,
  });
  return {
    runId: answer.runId,
    updates,
    async cancel() {
      await cancelRun(requests, answer.runId);
    },
    leave: stop,
  };
}

async function watchRun(requests: OperatorRequests, runId: string, afterPos: number): Promise<WatchedRun> {
  const updates = new UpdateQueue(false);
  const value = create(WatchRunRequestSchema, { runId, afterPos });
  const request = { case: 'watchRun', value } as const;
  const { answer, stop } = await requests.watch(request, 'watchRun', handlersOf(updates));
  const run = viewOf(answer.run);
  // nothing is left to be told, so nothing comes
  if (run.end !== undefined && run.lastPos === afterPos) updates.closeWith(run.end, afterPos);
  return { run, updates, leave: stop };
}

function handlersOf(updates: UpdateQueue) {
  return {
    onUpdate: (update: OperatorUpdate['update']) => updates.receive(update),
    onStopped: (reason: Parameters<UpdateQueue['close']>[0]) => updates.close(reason),
  };
}

/** A message inside an answer is optional on the wire only. */
function viewOf(run: Parameters<typeof toRunView>[0] | undefined): RunView {
  if (run === undefined) throw new TypeError('the Edge answered without the run itself');
  return toRunView(run);
}
