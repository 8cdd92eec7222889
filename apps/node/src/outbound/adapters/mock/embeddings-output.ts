import type { RuntimeEvent } from '@iop/runtime';
import type { AskedEmbeddings } from './asked.ts';
import { bodyEvents, type MockOutput, type MockUsage } from './mock-output.ts';
import { withoutScript } from './mock-request.ts';
import { vectorOf } from './vectors.ts';

/** Vectors for texts. There is nothing to give before all of them are there. */
export class EmbeddingsOutput implements MockOutput {
  readonly #model: string;
  readonly #asked: AskedEmbeddings;
  #isBroken = false;

  constructor(model: string, asked: AskedEmbeddings) {
    this.#model = model;
    this.#asked = asked;
  }

  begin(): RuntimeEvent[] {
    return [];
  }

  piece(): RuntimeEvent[] {
    return [];
  }

  garbage(): RuntimeEvent[] {
    this.#isBroken = true;
    return [];
  }

  end(_finish: string, usage: MockUsage | undefined): RuntimeEvent[] {
    const { inputs, dimensions, isBase64 } = this.#asked;
    const data = inputs.map((input, index) => {
      const vector = vectorOf(withoutScript(input), dimensions);
      return { object: 'embedding', index, embedding: isBase64 ? toBase64(vector) : [...vector] };
    });
    const count = usage?.prompt_tokens ?? 0;
    const told = usage && { usage: { prompt_tokens: count, total_tokens: count } };
    const text = JSON.stringify({ object: 'list', data, model: this.#model, ...told });
    return bodyEvents('openai.embeddings', this.#isBroken ? text.slice(0, -20) : text);
  }
}

/** Little-endian float32, as OpenAI does it. */
function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}
