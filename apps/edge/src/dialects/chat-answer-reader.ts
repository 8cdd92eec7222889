import type { Usage } from '@iop/domain';
import { isContent, type RuntimeEvent } from '@iop/runtime';
import type { AnswerError, AnswerPart, AnswerUsage } from './answer-part.ts';
import { errorIn, isFields, readChunk } from './chat-chunk.ts';
import { type SseEvent, SseReader } from './sse-reader.ts';
import { ToolCallBook } from './tool-call-book.ts';

export interface ReaderOptions {
  /** The request was not streamed: raw bytes are one JSON body, read at its end. */
  isWhole: boolean;
}

/**
 * The answer to an `openai.chat` request, for doors of other dialects: raw events are read, typed ones are
 * taken as they are. What comes out depends on the events alone, and for raw ones on their bytes alone, not on where
 * these are cut.
 */
export class ChatAnswerReader {
  readonly #sse = new SseReader();
  readonly #calls = new ToolCallBook();
  readonly #body: Uint8Array[] | undefined;
  #hasFailed = false;

  constructor({ isWhole }: ReaderOptions = { isWhole: false }) {
    this.#body = isWhole ? [] : undefined;
  }

  /** The last bytes were the beginning of an event. If the run ends like this, its answer is broken. */
  get isHolding(): boolean {
    return this.#sse.isHolding;
  }

  read(event: RuntimeEvent): readonly AnswerPart[] {
    if (this.#hasFailed) return [];
    switch (event.kind) {
      case 'raw':
        return event.dialect === 'openai.chat'
          ? this.#readBytes(event.bytes)
          : this.#fail(unreadable(`it speaks ${event.dialect}`));
      case 'text':
      case 'reasoning':
        return event.text === '' ? [] : [event];
      case 'tool-call': {
        const { index, id, name, argumentsJson: json } = event;
        return this.#calls.add({ index, id, name, json });
      }
      case 'tool-activity':
        return [{ kind: 'activity', title: event.title }];
      case 'usage':
        return [{ kind: 'usage', usage: fromUsage(event.usage) }];
      default:
        return isContent(event) ? [{ kind: 'activity', title: event.kind }] : [];
    }
  }

  /** The run has completed: what could not be read before its end. */
  end(): readonly AnswerPart[] {
    const body = this.#body;
    if (body === undefined || body.length === 0 || this.#hasFailed) return [];
    const decoder = new TextDecoder();
    const texts = body.map((bytes) => decoder.decode(bytes, { stream: true }));
    return this.#readEvent({ name: '', data: texts.join('') + decoder.decode() });
  }

  #readBytes(bytes: Uint8Array): readonly AnswerPart[] {
    if (this.#body !== undefined) {
      this.#body.push(bytes);
      return [];
    }
    const parts: AnswerPart[] = [];
    for (const event of this.#sse.push(bytes)) {
      if (!this.#hasFailed) parts.push(...this.#readEvent(event));
    }
    if (this.#sse.isTooLarge && !this.#hasFailed) parts.push(...this.#fail(tooLarge));
    return parts;
  }

  #readEvent({ name, data }: SseEvent): readonly AnswerPart[] {
    if (data === '' || data === '[DONE]') return [];
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      return this.#fail(malformed);
    }
    if (!isFields(chunk)) return this.#fail(malformed);
    const error = errorIn(chunk, name);
    return error === undefined ? readChunk(chunk, this.#calls) : this.#fail(error);
  }

  #fail(error: AnswerError): readonly AnswerPart[] {
    this.#hasFailed = true;
    return [{ kind: 'error', error }];
  }
}

export function fromUsage({ promptTokens, completionTokens, estimated }: Usage): AnswerUsage {
  return {
    inputTokens: promptTokens,
    cachedTokens: 0,
    outputTokens: completionTokens,
    reasoningTokens: 0,
    estimated,
  };
}

function unreadable(what: string): AnswerError {
  return {
    message: `The answer cannot be passed on: ${what}.`,
    type: 'server_error',
    code: 'answer.unreadable',
  };
}

const malformed: AnswerError = {
  message: 'The upstream sent a stream event that is not a JSON object.',
  type: 'server_error',
  code: 'upstream.malformed',
};

const tooLarge: AnswerError = {
  message: 'The upstream sent an event larger than 4 MiB.',
  type: 'server_error',
  code: 'upstream.event-too-large',
};
