import type { Clock, FinishReason, RunEnd } from '@iop/domain';
import { cancelCauseOf, type EventSink, type RuntimeEvent } from '@iop/runtime';
import { cutFailure, errorFailure, malformedFailure } from './mock-faults.ts';
import type { MockOutput, MockUsage } from './mock-output.ts';
import { finishReasonOf, mockPieces } from './mock-pieces.ts';
import type { MockRequest } from './mock-request.ts';

export interface MockPlay {
  request: MockRequest;
  runId: string;
  output: MockOutput;
  sink: EventSink;
  signal: AbortSignal;
  clock: Clock;
}

/** Without a pace the mock steps aside after so much, so that other work has its turn. */
const burstBytes = 256 * 1024;

/** Plays one script to its end. Every wait is over at once when the signal fires. */
export class MockPlayer {
  readonly #play: MockPlay;
  #pieces = 0;
  #hasBegun = false;
  #burst = 0;
  #wake: (() => void) | undefined;

  constructor(play: MockPlay) {
    this.#play = play;
  }

  async run(): Promise<RunEnd> {
    const { signal, request } = this.#play;
    const wake = () => this.#wake?.();
    signal.addEventListener('abort', wake, { once: true });
    try {
      const end = await this.#untilEnd();
      if (!signal.aborted) return end;
    } finally {
      signal.removeEventListener('abort', wake);
    }
    const { ignore_cancel_ms: ignoreMs } = request.script;
    if (ignoreMs > 0) await new Promise<void>((resolve) => this.#play.clock.after(ignoreMs, resolve));
    return { kind: 'cancelled', by: cancelCauseOf(signal) };
  }

  async #untilEnd(): Promise<RunEnd> {
    const { request, runId, signal } = this.#play;
    const { script } = request;
    await this.#wait(script.delay_ms);
    for (const piece of mockPieces({ request, runId })) {
      const fault = await this.#faultHere(false);
      if (fault !== undefined) return fault;
      if (this.#pieces > 0) await this.#wait(script.pace_ms);
      await this.#emit([...this.#begin(), ...this.#play.output.piece(piece)]);
      this.#pieces++;
      if (signal.aborted) return cancelled;
    }
    const fault = await this.#faultHere(true);
    return fault ?? this.#finish();
  }

  /** @param isLast a fault set beyond the last piece takes place before the end */
  async #faultHere(isLast: boolean): Promise<RunEnd | undefined> {
    const { script } = this.#play.request;
    const isHere = (fault: { at: number } | undefined) =>
      fault !== undefined && (fault.at === this.#pieces || (isLast && fault.at > this.#pieces));
    if (isHere(script.stall)) await this.#wait(script.stall?.ms ?? Number.POSITIVE_INFINITY);
    if (this.#play.signal.aborted) return cancelled;
    if (script.error !== undefined && isHere(script.error)) {
      return { kind: 'failed', failure: errorFailure(script.error, this.#pieces) };
    }
    if (isHere(script.cut)) return { kind: 'failed', failure: cutFailure() };
    if (!isHere(script.malformed)) return undefined;
    if (!script.malformed?.deliver) return { kind: 'failed', failure: malformedFailure() };
    await this.#emit([...this.#begin(), ...this.#play.output.garbage()]);
    return undefined;
  }

  async #finish(): Promise<RunEnd> {
    const { request, output, signal } = this.#play;
    const finish = finishReasonOf(request);
    const usage = this.#usage();
    await this.#emit([...this.#begin(), ...output.end(finish, usage)]);
    if (signal.aborted) return cancelled;
    const seen = usage && {
      promptTokens: usage.prompt_tokens,
      completionTokens: usage.completion_tokens,
      estimated: false,
    };
    return { kind: 'completed', finish: toFinish(finish), ...(seen && { usage: seen }) };
  }

  #usage(): MockUsage | undefined {
    const { script, promptTokens, choices } = this.#play.request;
    if (script.usage === false) return undefined;
    return script.usage ?? { prompt_tokens: promptTokens, completion_tokens: this.#pieces * choices };
  }

  #begin(): RuntimeEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    return this.#play.output.begin();
  }

  async #emit(events: readonly RuntimeEvent[]): Promise<void> {
    const { sink, signal } = this.#play;
    for (const event of events) {
      if (signal.aborted) return;
      if (event.kind === 'raw') this.#burst += event.bytes.length;
      if (!sink.emit(event)) await this.#pause((done) => sink.whenDrained(done));
    }
    if (this.#burst < burstBytes) return;
    this.#burst = 0;
    await this.#pause((done) => void this.#play.clock.after(0, done));
  }

  async #wait(delayMs: number): Promise<void> {
    if (delayMs === 0) return;
    this.#burst = 0;
    let cancel = () => {};
    await this.#pause((done) => {
      if (delayMs !== Number.POSITIVE_INFINITY) cancel = this.#play.clock.after(delayMs, done);
    });
    cancel();
  }

  /** Until `arm` calls back or the signal fires. */
  #pause(arm: (done: () => void) => void): Promise<void> {
    if (this.#play.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
      arm(resolve);
    });
  }
}

// Says only that the signal fired; `run` gives the end that counts.
const cancelled: RunEnd = { kind: 'cancelled', by: 'caller' };

function toFinish(word: string): FinishReason {
  if (word === 'stop' || word === 'length') return word;
  if (word === 'tool_calls') return 'tool-calls';
  return word === 'content_filter' ? 'content-filter' : 'other';
}
