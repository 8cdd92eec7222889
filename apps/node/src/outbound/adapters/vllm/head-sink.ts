import type { EventSink, RuntimeEvent } from '@iop/runtime';

/** Says what the bytes are before the first of them (`openai.raw`). */
export class HeadSink implements EventSink {
  readonly #sink: EventSink;
  readonly #contentType: string;
  #hasBegun = false;

  constructor(sink: EventSink, contentType: string) {
    this.#sink = sink;
    this.#contentType = contentType;
  }

  /** Also for an answer without a single byte. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#sink.emit({ kind: 'head', contentType: this.#contentType });
  }

  emit(event: RuntimeEvent): boolean {
    this.begin();
    return this.#sink.emit(event);
  }

  whenDrained(callback: () => void): void {
    this.#sink.whenDrained(callback);
  }
}
