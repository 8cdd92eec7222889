import { type Clock, type RunEnd, toIopError } from '@iop/domain';
import type { ExecutionSpec } from '@iop/runtime';
import type { Log } from '../ports/log.ts';
import type { RunStore } from '../ports/run-store.ts';
import type { AdapterInstance, AdapterRegistry } from './adapter-registry.ts';
import type { Attempt } from './attempt.ts';
import { Occupancy } from './occupancy.ts';
import type { Router } from './router.ts';
import { failed, settleEnd } from './run-request.ts';

export interface ExecutorDeps {
  clock: Clock;
  log: Log;
  store: RunStore;
  registry: AdapterRegistry;
  router: Router;
  /** An attempt is over, its slot is free, its end is on the channel. */
  ended(attempt: Attempt): void;
}

/** Brings an attempt whose body is whole from its adapter's first event to its one end. */
export class Executor {
  readonly #deps: ExecutorDeps;
  readonly #occupancy = new Occupancy();

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
  }

  begin(attempt: Attempt, body: Uint8Array): void {
    const { request } = attempt;
    this.#deps.store.startRun({
      runId: request.runId,
      attempt: request.attempt,
      runClass: request.runClass,
      adapter: request.adapter,
      target: request.target,
      door: request.door,
      startedAtMs: this.#deps.clock.wall(),
    });
    const resolution = this.#deps.router.resolve(request, body);
    if (resolution.kind === 'refused') {
      this.finish(attempt, { kind: 'failed', failure: resolution.failure });
      return;
    }
    const { spec, instance } = resolution;
    const full = this.#occupancy.fullness(instance.configuration, request.target);
    if (full === undefined) void this.#execute(attempt, spec, instance);
    else this.finish(attempt, failed('exhausted', 'node.busy', full, true));
  }

  /** Ends an attempt, once; whatever is still going on of it is no longer heard. */
  finish(attempt: Attempt, end: RunEnd): void {
    if (attempt.phase === 'over') return;
    const { request, instance } = attempt;
    const final = settleEnd(end, attempt.stopReason);
    attempt.phase = 'over';
    attempt.cancelDeadline?.();
    if (instance !== undefined) {
      this.#occupancy.leave(request.adapter, request.target);
      this.#deps.registry.leave(instance);
    }
    this.#deps.store.completeRun({
      runId: request.runId,
      attempt: request.attempt,
      end: final,
      endedAtMs: this.#deps.clock.wall(),
    });
    attempt.channel.end(final);
    this.#tell(attempt, final);
    this.#deps.ended(attempt);
  }

  async #execute(attempt: Attempt, spec: ExecutionSpec, instance: AdapterInstance): Promise<void> {
    attempt.phase = 'executing';
    attempt.instance = instance;
    this.#occupancy.enter(attempt.request.adapter, attempt.request.target);
    this.#deps.registry.enter(instance);
    let end: RunEnd;
    try {
      end = await instance.adapter.execute(spec, attempt, attempt.signal);
    } catch (reason) {
      end = this.#bug(spec, reason);
    }
    this.finish(attempt, end);
  }

  #tell({ request }: Attempt, end: RunEnd): void {
    const { log } = this.#deps;
    const { runId: run, attempt, adapter, target } = request;
    if (end.kind === 'failed') {
      const { code, message } = end.failure;
      log.info({ run, attempt, adapter, target, code, reason: message }, 'run failed');
    } else log.debug({ run, attempt, adapter, target, end: end.kind }, 'run ended');
  }

  #bug(spec: ExecutionSpec, reason: unknown): RunEnd {
    const { message } = toIopError(reason);
    const stack = reason instanceof Error ? reason.stack : undefined;
    this.#deps.log.error(
      { run: spec.runId, adapter: spec.adapter, error: message, stack },
      'an adapter threw',
    );
    return failed(
      'internal',
      'adapter.bug',
      `adapter ${spec.adapter} failed in an unforeseen way: ${message}`,
    );
  }
}
