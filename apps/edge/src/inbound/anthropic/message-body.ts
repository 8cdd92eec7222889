import type { BlockHead, BlockSink } from './block-line.ts';
import {
  type MessageEnd,
  type MessageIdentity,
  signatureOf,
  toBlock,
  toMessage,
  toStop,
} from './message-words.ts';

interface OpenBlock {
  head: BlockHead;
  pieces: string[];
}

/** One message as one JSON body. */
export class MessageBody implements BlockSink {
  readonly #blocks: OpenBlock[] = [];

  open(head: BlockHead): void {
    this.#blocks.push({ head, pieces: [] });
  }

  add(piece: string): void {
    this.#blocks.at(-1)?.pieces.push(piece);
  }

  close(): void {}

  finish(identity: MessageIdentity, end: MessageEnd): string {
    const content = this.#blocks.map((block, index) => fill(block, identity, index));
    return JSON.stringify({ ...toMessage(identity, end.usage), content, ...toStop(end) });
  }
}

function fill({ head, pieces }: OpenBlock, identity: MessageIdentity, index: number): object {
  const block = toBlock(head, { id: identity.id, index });
  const text = pieces.join('');
  if (head.kind === 'text') return { ...block, text };
  if (head.kind === 'thinking') return { ...block, thinking: text, signature: signatureOf(identity) };
  return { ...block, input: toInput(text) };
}

/** Arguments that are no JSON are shown as they came: neither dropped nor mended. */
function toInput(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
