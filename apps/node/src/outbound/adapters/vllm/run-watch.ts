import type { RunEnd, RunFailure } from '@iop/domain';
import type { Dialect, ExecutionSpec, FactName } from '@iop/runtime';
import type { FactBook } from '../http-upstream/fact-book.ts';
import type { RequestReading } from './request-splice.ts';

export interface WatchedRun {
  spec: ExecutionSpec;
  reading: RequestReading;
  /** The upstream was asked for server-sent events. */
  streams: boolean;
}

/** A model that thinks does so first: later chunks are not searched for it. */
const searchedChunks = 16;
const reasoningKey = Buffer.from('"reasoning');
const toolsKey = Buffer.from('"tool_calls"');
const reasoningText = /^"reasoning(?:_content)?"\s*:\s*"[^"]/;
const callName = /"name"\s*:\s*"[^"]/;
const callArguments = /"arguments"\s*:\s*"(?!(?:\{\s*\})?")/;

const dialectFacts: Readonly<Partial<Record<Dialect, FactName>>> = {
  'openai.chat': 'chat',
  'openai.completions': 'completions',
  'openai.embeddings': 'embeddings',
};

/**
 * Learns from one run what its target can do, and puts it into the book. It looks into chunks only for what
 * the book does not know yet.
 */
export class RunWatch {
  readonly #book: FactBook;
  readonly #run: WatchedRun;
  #chunks = 0;
  #seeksReasoning: boolean;
  #seeksTools: boolean;
  #sawWholeCall = false;

  constructor(book: FactBook, run: WatchedRun) {
    this.#book = book;
    this.#run = run;
    const { target, dialect } = run.spec;
    const isChat = dialect === 'openai.chat';
    this.#seeksReasoning = isChat && book.knows(target, 'reasoning') !== true;
    this.#seeksTools = isChat && run.reading.hasTools && book.knows(target, 'stream-tools') !== true;
  }

  /** One chunk of a stream, or a whole answer. */
  see(bytes: Uint8Array, start: number, end: number): void {
    if (!this.#seeksReasoning && !this.#seeksTools) return;
    const part = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
    if (this.#seeksReasoning) this.#seekReasoning(part);
    if (this.#seeksTools && this.#run.streams && part.includes(toolsKey)) this.#seeTools(part);
  }

  ended(end: RunEnd): void {
    const { spec, streams } = this.#run;
    const fact = dialectFacts[spec.dialect];
    if (fact === undefined) return;
    if (end.kind === 'failed') this.#failed(end.failure, fact);
    if (end.kind !== 'completed') return;
    this.#note(fact, true);
    if (streams) this.#note('usage-in-stream', end.usage !== undefined);
    if (end.finish === 'tool-calls') this.#note('tools', true);
    if (end.finish === 'tool-calls' && this.#sawWholeCall) this.#note('stream-tools', false);
  }

  #seekReasoning(part: Buffer): void {
    for (let at = part.indexOf(reasoningKey); at !== -1; at = part.indexOf(reasoningKey, at + 1)) {
      if (!reasoningText.test(part.toString('latin1', at, at + 64))) continue;
      this.#seeksReasoning = false;
      this.#note('reasoning', true);
      return;
    }
    this.#chunks++;
    if (this.#chunks >= searchedChunks) this.#seeksReasoning = false;
  }

  /** A piece without a name goes on with a call that has begun. */
  #seeTools(part: Buffer): void {
    const text = part.toString('latin1');
    if (callName.test(text)) {
      this.#sawWholeCall ||= callArguments.test(text);
    } else if (callArguments.test(text)) {
      this.#seeksTools = false;
      this.#sawWholeCall = false;
      this.#note('stream-tools', true);
    }
  }

  /** What the upstream says that it cannot do at all. */
  #failed({ message, upstream }: RunFailure, fact: FactName): void {
    const status = upstream?.status ?? 0;
    const hasNoPath = status === 501 || status === 405 || (status === 404 && !/model/i.test(message));
    if (hasNoPath || (status >= 400 && saysNo[fact]?.test(message) === true)) this.#note(fact, false);
    if (status >= 400 && saysNoTools.test(message)) this.#note('tools', false);
  }

  #note(name: FactName, holds: boolean): void {
    this.#book.measured(this.#run.spec.target, name, holds);
  }
}

const saysNo: Readonly<Partial<Record<FactName, RegExp>>> = {
  chat: /does not support (?:the )?chat/i,
  completions: /does not support (?:the )?completions/i,
  embeddings: /does not support (?:the )?embeddings?/i,
};
const saysNoTools = /--tool-call-parser|does not support tools/i;
