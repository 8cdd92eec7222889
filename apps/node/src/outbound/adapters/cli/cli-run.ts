import type { CliProfile } from '@iop/cli-profile';
import type { Clock, RunEnd, RunFailure } from '@iop/domain';
import { cancelCauseOf, type EventSink } from '@iop/runtime';
import type { ChildOutput } from './child-output.ts';
import { DrainWatch } from './drain-watch.ts';
import { type ChildExit, cliFailure, failedEnd, verdictOf } from './exit-verdict.ts';
import { JsonlOutput } from './jsonl-output.ts';
import { OutputReader } from './output-reader.ts';
import type { RunProcesses } from './run-processes.ts';
import { RunTimeouts } from './run-timeouts.ts';
import type { SecretMask } from './secret-mask.ts';
import type { Child } from './start-child.ts';
import { StderrTail } from './stderr-tail.ts';
import { TextOutput } from './text-output.ts';

export interface CliRunInit {
  profile: CliProfile;
  sink: EventSink;
  signal: AbortSignal;
  clock: Clock;
  child: Child;
  processes: RunProcesses;
  /** Over every message of the run. */
  mask: SecretMask;
}

/** Why a run is over; see DESIGN.md. The first one counts. */
type Cause =
  | { kind: 'drained' }
  | { kind: 'answered' }
  | { kind: 'cancelled' }
  | { kind: 'failed'; failure: RunFailure };

/** One child from its start to the end of its tree. */
export class CliRun {
  readonly #init: CliRunInit;
  readonly #reader: OutputReader;
  readonly #timeouts: RunTimeouts;
  readonly #drain: DrainWatch;
  readonly #stderr: StderrTail;
  readonly #cause = Promise.withResolvers<Cause>();
  readonly #exited = Promise.withResolvers<void>();
  #exit: ChildExit | undefined;

  constructor(init: CliRunInit) {
    this.#init = init;
    this.#stderr = new StderrTail(init.mask);
    this.#timeouts = this.#createTimeouts();
    this.#reader = this.#createReader();
    this.#drain = new DrainWatch({
      clock: init.clock,
      reader: this.#reader,
      limitMs: init.profile.drain,
      drained: () => this.#cause.resolve({ kind: 'drained' }),
      livesOn: () => this.#fail(livedOn(init.profile)),
    });
    this.#listen();
  }

  async run(): Promise<RunEnd> {
    const { signal, profile, processes } = this.#init;
    const cancel = () => this.#cause.resolve({ kind: 'cancelled' });
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const cause = await this.#cause.promise;
    signal.removeEventListener('abort', cancel);
    this.#timeouts.stop();
    this.#drain.stop();
    const rest = cause.kind === 'drained' ? this.#reader.finish() : undefined;
    this.#reader.stop();
    if (cause.kind === 'answered') await this.#exitWithin(profile.drain);
    const left = await processes.end(cause.kind === 'drained' ? 0 : profile.grace);
    if (left === 0) await this.#exitWithin(profile.drain);
    this.#release();
    const end = this.#masked(this.#endOf(cause, rest));
    const { usage } = this.#reader;
    return usage === undefined ? end : { ...end, usage };
  }

  #createTimeouts(): RunTimeouts {
    const { clock, profile } = this.#init;
    return new RunTimeouts({
      clock,
      profile,
      isHeldUp: () => this.#reader.isPaused,
      expired: (failure) => this.#fail(failure),
    });
  }

  #createReader(): OutputReader {
    const { child, clock, profile, sink } = this.#init;
    return new OutputReader({
      stream: child.stdout,
      output: createOutput(profile),
      sink,
      clock,
      program: profile.program,
      maxBytes: profile.max_output,
      progress: () => this.#timeouts.progress(),
      verdict: (verdict) =>
        verdict === 'answered' ? this.#cause.resolve({ kind: 'answered' }) : this.#fail(verdict.failure),
      closed: () => this.#drain.look(),
    });
  }

  #listen(): void {
    const { child, processes } = this.#init;
    child.once('exit', (code, signal) => {
      this.#exit = { code, signal };
      processes.leaderEnded();
      this.#exited.resolve();
      this.#drain.leaderEnded();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#timeouts.progress();
      this.#stderr.push(chunk);
    });
    child.stderr.on('error', () => {});
    child.stderr.on('close', () => this.#drain.stderrClosed());
  }

  #fail(failure: RunFailure): void {
    this.#cause.resolve({ kind: 'failed', failure });
  }

  async #exitWithin(limitMs: number): Promise<void> {
    if (this.#exit !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#init.clock.after(limitMs, resolve);
    await Promise.race([promise, this.#exited.promise]);
    cancel();
  }

  #release(): void {
    const { child } = this.#init;
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    child.unref();
  }

  #endOf(cause: Cause, rest: RunFailure | undefined): RunEnd {
    const { signal, profile } = this.#init;
    if (cause.kind === 'cancelled') return { kind: 'cancelled', by: cancelCauseOf(signal) };
    if (cause.kind === 'answered') return { kind: 'completed', finish: 'stop' };
    if (cause.kind === 'failed') return failedEnd(cause.failure);
    const exit = this.#exit ?? { code: null, signal: null };
    const { hasOutput } = this.#reader;
    const end = verdictOf(profile, { exit, hasOutput, stderr: this.#stderr.text() });
    // How the program ended says more than the line that it did not finish.
    return rest !== undefined && end.kind === 'completed' ? failedEnd(rest) : end;
  }

  #masked(end: RunEnd): RunEnd {
    if (end.kind !== 'failed') return end;
    const masked = this.#init.mask.mask(end.failure.message);
    // Not before it was masked: half a value would not be found.
    const message = masked.length <= maxMessage ? masked : `${masked.slice(0, maxMessage)}…`;
    return { ...end, failure: { ...end.failure, message } };
  }
}

const maxMessage = 4_096;

function createOutput(profile: CliProfile): ChildOutput {
  return profile.output === 'jsonl' ? new JsonlOutput(profile) : new TextOutput(profile.program);
}

function livedOn({ program, drain }: CliProfile): RunFailure {
  const message = `${program} closed its output and lived on for ${drain / 1000} s; it was ended`;
  return cliFailure('unavailable', 'cli.lives-on', message);
}
