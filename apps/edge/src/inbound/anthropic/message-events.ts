import type { AnswerUsage } from '../../dialects/answer-part.ts';
import type { BlockHead, BlockSink } from './block-line.ts';
import {
  type MessageEnd,
  type MessageIdentity,
  signatureOf,
  toBlock,
  toMessage,
  toStop,
  toUsage,
} from './message-words.ts';

/** Server-sent events of one message. What is written is collected until `take`; always whole events. */
export class MessageEvents implements BlockSink {
  readonly #identity: () => MessageIdentity;
  readonly #firstUsage: () => AnswerUsage;
  #text = '';
  #index = -1;
  #kind: BlockHead['kind'] = 'text';
  #hasBegun = false;

  /** Both are asked for once, when the message begins. */
  constructor(identity: () => MessageIdentity, firstUsage: () => AnswerUsage) {
    this.#identity = identity;
    this.#firstUsage = firstUsage;
  }

  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#write('message_start', { message: toMessage(this.#identity(), this.#firstUsage()) });
  }

  /** Keeps the connection warm; a message has begun by it. */
  ping(): void {
    this.begin();
    this.#write('ping', {});
  }

  open(head: BlockHead): void {
    this.begin();
    this.#index += 1;
    this.#kind = head.kind;
    const index = this.#index;
    const block = toBlock(head, { id: this.#identity().id, index });
    this.#write('content_block_start', { index, content_block: block });
  }

  add(piece: string): void {
    if (piece !== '') this.#delta(deltas[this.#kind](piece));
  }

  close(): void {
    if (this.#kind === 'thinking') {
      this.#delta({ type: 'signature_delta', signature: signatureOf(this.#identity()) });
    }
    this.#write('content_block_stop', { index: this.#index });
  }

  finish(end: MessageEnd): void {
    this.begin();
    this.#write('message_delta', { delta: { ...toStop(end), container: null }, usage: toUsage(end.usage) });
    this.#write('message_stop', {});
  }

  #delta(delta: object): void {
    this.#write('content_block_delta', { index: this.#index, delta });
  }

  #write(type: string, fields: object): void {
    this.#text += `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  }
}

const deltas: Readonly<Record<BlockHead['kind'], (piece: string) => object>> = {
  text: (text) => ({ type: 'text_delta', text }),
  thinking: (thinking) => ({ type: 'thinking_delta', thinking }),
  'tool-use': (json) => ({ type: 'input_json_delta', partial_json: json }),
};
