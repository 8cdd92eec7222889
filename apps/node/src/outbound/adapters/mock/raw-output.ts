import type { ExecutionSpec, RawRequest, RuntimeEvent } from '@iop/runtime';
import { bodyEvents, type MockOutput, rawEvents } from './mock-output.ts';
import type { MockPiece } from './mock-pieces.ts';

const dialect = 'openai.raw';

/** An answer to a request that nobody understands: what arrived, and what the script says. */
export class RawOutput implements MockOutput {
  readonly #spec: ExecutionSpec;
  readonly #raw: RawRequest;
  readonly #texts: string[] = [];
  #isBroken = false;

  constructor(spec: ExecutionSpec, raw: RawRequest) {
    this.#spec = spec;
    this.#raw = raw;
  }

  begin(): RuntimeEvent[] {
    return [{ kind: 'head', contentType: this.#spec.stream ? 'text/event-stream' : 'application/json' }];
  }

  piece(piece: MockPiece): RuntimeEvent[] {
    if (piece.kind !== 'text') return [];
    if (this.#spec.stream) return rawEvents(dialect, `data: ${JSON.stringify({ text: piece.text })}\n\n`);
    this.#texts.push(piece.text);
    return [];
  }

  garbage(): RuntimeEvent[] {
    this.#isBroken = true;
    return this.#spec.stream ? rawEvents(dialect, 'data: {"text":"this is not \n\n') : [];
  }

  end(): RuntimeEvent[] {
    if (this.#spec.stream) return rawEvents(dialect, 'data: [DONE]\n\n');
    const { path, contentType } = this.#raw;
    const text = JSON.stringify({
      object: 'mock.raw',
      model: this.#spec.target,
      path,
      content_type: contentType,
      body_bytes: this.#spec.body.length,
      text: this.#texts.join(''),
    });
    return bodyEvents(dialect, this.#isBroken ? text.slice(0, -20) : text);
  }
}
