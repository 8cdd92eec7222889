import { type ChildOutput, type OutputStep, textEvents } from './child-output.ts';
import { cliFailure } from './exit-verdict.ts';

/** Plain text: what comes is what is emitted. */
export class TextOutput implements ChildOutput {
  readonly #program: string;
  // A byte order mark is the program's own and stays.
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(program: string) {
    this.#program = program;
  }

  push(chunk: Uint8Array): OutputStep {
    return this.#decode(() => this.#decoder.decode(chunk, { stream: true }));
  }

  finish(): OutputStep {
    return this.#decode(() => this.#decoder.decode());
  }

  #decode(decode: () => string): OutputStep {
    try {
      return { events: textEvents(decode()), verdict: 'more' };
    } catch {
      const message = `${this.#program} put out bytes that are not UTF-8`;
      return { events: [], verdict: { failure: cliFailure('unavailable', 'cli.output-invalid', message) } };
    }
  }
}
