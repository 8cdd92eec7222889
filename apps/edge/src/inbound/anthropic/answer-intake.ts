import type { RunEnd } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';
import type { AnswerError, AnswerPart, AnswerUsage } from '../../dialects/answer-part.ts';
import { ChatAnswerReader, fromUsage } from '../../dialects/chat-answer-reader.ts';
import type { Refusal } from '../http/refusal.ts';
import { badEvent } from '../http/to-http.ts';
import { BlockLine, type BlockSink } from './block-line.ts';
import type { MessageEnd } from './message-words.ts';

/** From the events of a run to the blocks of its message, and how it ended. */
export class AnswerIntake {
  readonly #reader = new ChatAnswerReader();
  readonly #line: BlockLine;
  #finish: Extract<AnswerPart, { kind: 'finish' }> | undefined;
  #usage: AnswerUsage | undefined;
  #hasCalls = false;
  #saidChars = 0;
  #hasRefused = false;
  #hasContent = false;

  constructor(sink: BlockSink) {
    this.#line = new BlockLine(sink);
  }

  /** Something was said, or the work has begun. */
  get hasContent(): boolean {
    return this.#hasContent;
  }

  /** @returns why nothing that follows can be shown; undefined: all is well */
  take(event: RuntimeEvent): Refusal | undefined {
    for (const part of this.#reader.read(event)) {
      const refusal = this.#takePart(part);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  /**
   * @param asked what the request took, by estimate: for engines that never say
   * @returns why the answer is not whole, although its run is
   */
  complete(
    { finish, usage }: Extract<RunEnd, { kind: 'completed' }>,
    asked: () => AnswerUsage,
  ): MessageEnd | Refusal {
    if (this.#reader.isHolding) return badEvent('the run ended in the middle of an event');
    this.#line.finish();
    return {
      finish: this.#finish?.finish ?? finish,
      stopSequence: this.#finish?.stopSequence,
      hasCalls: this.#hasCalls,
      hasRefused: this.#hasRefused,
      usage: this.#usage ?? (usage === undefined ? this.#estimate(asked()) : fromUsage(usage)),
    };
  }

  /** Four characters a token: nobody keeps what was said to count it better. */
  #estimate(asked: AnswerUsage): AnswerUsage {
    return { ...asked, outputTokens: Math.ceil(this.#saidChars / 4), estimated: true };
  }

  #takePart(part: AnswerPart): Refusal | undefined {
    if (part.kind === 'error') return toRefusal(part.error);
    if (part.kind === 'usage') this.#usage = part.usage;
    else if (part.kind === 'finish') this.#finish = part;
    else this.#hasContent = true;
    if (part.kind === 'tool-call') this.#hasCalls = true;
    if ('text' in part) this.#saidChars += part.text.length;
    else if (part.kind === 'tool-arguments') this.#saidChars += part.json.length;
    if (part.kind === 'refusal') this.#hasRefused = true;
    const problem = this.#line.take(part);
    return problem === undefined ? undefined : badEvent(problem);
  }
}

/** An error that the upstream says in its stream, when it had already answered 200. */
function toRefusal({ message, type, code }: AnswerError): Refusal {
  return {
    status: 502,
    message,
    type: type === '' ? 'server_error' : type,
    code: code === '' ? 'upstream.error' : code,
    shouldRetry: false,
  };
}

export function isRefusal(value: MessageEnd | Refusal): value is Refusal {
  return 'status' in value;
}
