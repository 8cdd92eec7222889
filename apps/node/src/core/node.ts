import type { CancelCause, Clock } from '@iop/domain';
import type { AdapterFactory, Allow } from '../ports/adapter-factory.ts';
import type { Log } from '../ports/log.ts';
import type { RunChannel } from '../ports/run-channel.ts';
import type { RunStore } from '../ports/run-store.ts';
import { AdapterRegistry } from './adapter-registry.ts';
import { type AdapterReport, reportAdapters } from './adapter-report.ts';
import { Attempt } from './attempt.ts';
import { AttemptTable } from './attempt-table.ts';
import {
  type ConfigOutcome,
  configurationProblems,
  defaultLimits,
  type NodeConfiguration,
  type RunLimits,
} from './configuration.ts';
import { Drain } from './drain.ts';
import { Executor } from './executor.ts';
import type { NodeCommand, NodeCommandResult, NodeStatus } from './node-command.ts';
import { createRouter } from './router.ts';
import { failed, failure, type RunOutcome, type RunRequest, type StopReason } from './run-request.ts';
import { RunWatch } from './run-watch.ts';

export interface NodeDeps {
  clock: Clock;
  log: Log;
  store: RunStore;
  /** By kind. */
  factories: ReadonlyMap<string, AdapterFactory>;
  allow: Allow;
  /** Largest request body that is taken. */
  maxBodyBytes: number;
}

/**
 * The application core of a Node: it gets runs, commands and configuration from whoever holds the
 * link, executes the runs on its adapters and puts their events on the channel that came with each.
 *
 * N1: every accepted attempt gets exactly one end on its channel.
 * N2: a later attempt of a run fences the earlier one, which is stopped.
 * N3: a refused configuration changes nothing.
 * N4: attached runs do not outlive their link by more than `orphanAfterMs`, detached ones (DESIGN.md) by more than
 *     `detachedOrphanAfterMs`.
 */
export class Node {
  readonly #deps: NodeDeps;
  readonly #registry: AdapterRegistry;
  readonly #attempts = new AttemptTable();
  readonly #executor: Executor;
  readonly #watch: RunWatch;
  readonly #drain: Drain;
  #configRevision = 0;
  #limits: RunLimits = defaultLimits;

  constructor(deps: NodeDeps) {
    const { clock, log, store } = deps;
    this.#deps = deps;
    this.#registry = new AdapterRegistry(deps);
    this.#executor = new Executor({
      clock,
      log,
      store,
      registry: this.#registry,
      router: createRouter(this.#registry),
      ended: (attempt) => this.#forget(attempt),
    });
    const stop = (attempt: Attempt, reason: StopReason) => this.#stop(attempt, reason);
    this.#watch = new RunWatch({ clock, attempts: this.#attempts, limits: () => this.#limits, stop });
    this.#drain = new Drain({ clock, attempts: this.#attempts, stop });
  }

  /** Takes an attempt; its events and its one end follow on `channel`. */
  onRunRequest(request: RunRequest, channel: RunChannel): RunOutcome {
    const refusal = this.#refusal(request);
    const attempt = new Attempt(request, channel, this.#deps);
    const fenced = this.#attempts.find(request.runId, 0);
    if (this.#wasHere(request) || !this.#attempts.add(attempt)) return { kind: 'stale' };
    if (fenced !== undefined) this.#endIfIdle(fenced);
    if (refusal !== undefined) this.#executor.finish(attempt, { kind: 'failed', failure: refusal });
    else this.#start(attempt);
    return { kind: 'accepted' };
  }

  /** The whole body of an attempt that came without it. */
  onRunBody(runId: string, attempt: number, body: Uint8Array): void {
    const found = this.#attempts.find(runId, attempt);
    if (found?.phase === 'receiving') this.#executor.begin(found, body);
  }

  /** The body cannot be had: what came does not fit together. */
  onRunBodyBroken(runId: string, attempt: number, reason: string): void {
    const found = this.#attempts.find(runId, attempt);
    if (found?.phase !== 'receiving') return;
    this.#executor.finish(found, failed('internal', 'request.body-broken', reason));
  }

  /** @param attempt 0: whichever there is. Its end comes after the work has stopped. */
  onCancel(runId: string, attempt: number, by: CancelCause): void {
    const found = this.#attempts.find(runId, attempt);
    if (found !== undefined) this.#stop(found, { kind: 'cancel', by });
  }

  /** The Edge no longer knows this attempt: stop it, nobody waits for its end. */
  onFenced(runId: string, attempt: number): void {
    const found = this.#attempts.find(runId, attempt);
    if (found === undefined) return;
    this.#attempts.fence(found);
    this.#endIfIdle(found);
  }

  async onCommandRequest(command: NodeCommand, signal: AbortSignal): Promise<NodeCommandResult> {
    switch (command.kind) {
      case 'capabilities':
        return { kind: 'capabilities', adapters: await this.capabilities(signal) };
      case 'status':
        return { kind: 'status', status: this.status() };
      case 'sessions':
        return { kind: 'sessions', sessions: [] };
      case 'terminate-session': {
        const message = `there is no session ${command.sessionId} on this Node`;
        return { kind: 'failed', failure: failure('not-found', 'session.unknown', message) };
      }
      case 'drain':
        this.#drain.begin(command.deadlineMs);
        return { kind: 'done' };
      case 'resume':
        this.#drain.end();
        return { kind: 'done' };
    }
  }

  onConfig(configuration: NodeConfiguration): ConfigOutcome {
    const { factories, allow, log } = this.#deps;
    const wrong = configurationProblems(configuration, factories, allow);
    const problems = wrong.length === 0 ? this.#registry.apply(configuration.adapters) : wrong;
    const { revision } = configuration;
    if (problems.length > 0) {
      log.warn({ revision, problems, inForce: this.#configRevision }, 'configuration refused');
      return { kind: 'refused', problems };
    }
    this.#configRevision = revision;
    this.#limits = configuration.limits;
    log.info(
      { revision, adapters: configuration.adapters.map((adapter) => adapter.name) },
      'configuration in force',
    );
    return { kind: 'accepted' };
  }

  onLinkUp(): void {
    this.#watch.linkUp();
  }

  onLinkDown(): void {
    this.#watch.linkDown();
  }

  capabilities(signal: AbortSignal): Promise<readonly AdapterReport[]> {
    return reportAdapters(this.#registry.all(), signal);
  }

  status(): NodeStatus {
    const runs = [...this.#attempts].map(({ request, phase, stopReason }) => ({
      runId: request.runId,
      attempt: request.attempt,
      adapter: request.adapter,
      target: request.target,
      phase,
      isStopping: stopReason !== undefined,
    }));
    return { configRevision: this.#configRevision, draining: this.#drain.isDraining, runs };
  }

  /** Calls whenever the Node begins or ends draining. */
  onDrainChanged(listener: (draining: boolean) => void): void {
    this.#drain.listener = listener;
  }

  /**
   * Takes nothing new, lets runs end by themselves for `graceMs`, then cancels them as `shutdown`.
   * Resolves when all work has stopped, or `stopMs` after the cancel whatever happens.
   */
  async shutdown(limits: { graceMs: number; stopMs: number }): Promise<void> {
    await this.#drain.toTheEnd(limits);
    await this.#registry.close();
  }

  /** K8: also an earlier process may have begun it. Attached attempts do not pay for the look. */
  #wasHere(request: RunRequest): boolean {
    if (request.runClass === 'attached' || !this.#deps.store.has(request)) return false;
    const { runId: run, attempt } = request;
    this.#deps.log.error(
      { run, attempt },
      'the edge asks for an attempt that was here before; it is refused',
    );
    return true;
  }

  #refusal(request: RunRequest) {
    const { maxBodyBytes } = this.#deps;
    if (this.#drain.isDraining) {
      return failure('unavailable', 'node.draining', 'this Node takes no new runs now', true);
    }
    if (request.bodySizeBytes > maxBodyBytes) {
      const message = `the request body is ${request.bodySizeBytes} bytes; this Node takes ${maxBodyBytes}`;
      return failure('invalid', 'request.too-large', message);
    }
    return undefined;
  }

  #start(attempt: Attempt): void {
    const { deadlineMs } = attempt.request;
    if (deadlineMs > 0) {
      const cancel = () => this.#stop(attempt, { kind: 'cancel', by: 'deadline' });
      attempt.cancelDeadline = this.#deps.clock.after(deadlineMs, cancel);
    }
    this.#watch.arm();
    const { body } = attempt.request;
    if (body !== undefined) this.#executor.begin(attempt, body);
  }

  #stop(attempt: Attempt, reason: StopReason): void {
    attempt.stop(reason);
    this.#endIfIdle(attempt);
  }

  /** What no adapter has yet can end at once. */
  #endIfIdle(attempt: Attempt): void {
    if (attempt.phase === 'receiving')
      this.#executor.finish(attempt, { kind: 'cancelled', by: 'superseded' });
  }

  #forget(attempt: Attempt): void {
    this.#attempts.remove(attempt);
    if (this.#attempts.size > 0) return;
    this.#watch.idle();
    this.#drain.idle();
  }
}

export function createNode(deps: NodeDeps): Node {
  return new Node(deps);
}
