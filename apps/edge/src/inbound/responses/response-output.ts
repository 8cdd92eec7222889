import type { AnswerPart } from '../../dialects/answer-part.ts';
import type { Fields } from '../http/problem.ts';
import { CustomCallItem, FunctionCallItem } from './call-item.ts';
import { MessageItem } from './message-item.ts';
import type { Emit, ItemPlace, ItemStatus, OutputItem } from './output-item.ts';
import { ReasoningItem } from './reasoning-item.ts';
import { callId, type ItemPrefix, outputItemId } from './response-ids.ts';
import type { ResponseIdentity } from './response-object.ts';
import type { CalledTool } from './tool-plan.ts';

/** What makes up the output: the rest of an answer's parts is about it. */
export type ContentPart = Exclude<AnswerPart, { kind: 'usage' | 'finish' | 'error' }>;

type CallItem = FunctionCallItem | CustomCallItem;

/**
 * The items of a response in the order in which they began. Words and thoughts are one item after the other; calls
 * grow beside each other until the answer ends.
 */
export class ResponseOutput {
  readonly #identity: ResponseIdentity;
  readonly #emit: Emit;
  readonly #items: { item: OutputItem; isClosed: boolean }[] = [];
  readonly #calls = new Map<number, CallItem>();
  readonly #finished = new Map<OutputItem, Fields>();
  /** The item that words or thoughts go to. */
  #speaking: MessageItem | ReasoningItem | undefined;

  constructor(identity: ResponseIdentity, emit: Emit) {
    this.#identity = identity;
    this.#emit = emit;
  }

  get hasItems(): boolean {
    return this.#items.length > 0;
  }

  /** Returns how much it has grown, in characters. */
  add(part: ContentPart): number {
    switch (part.kind) {
      case 'text':
        this.#message().text(part.text, part.logprobs ?? []);
        return part.text.length;
      case 'refusal':
        this.#message().refusal(part.text);
        return part.text.length;
      case 'reasoning':
        this.#reasoning().think(part.text);
        return part.text.length;
      case 'tool-call':
        this.#call(part);
        return part.name.length;
      case 'tool-arguments':
        this.#calls.get(part.index)?.arguments(part.json);
        return part.json.length;
      case 'activity':
        return 0;
    }
  }

  /** The answer is whole, or cut short on purpose: what is open is closed, the last of it with this status. */
  close(status: 'completed' | 'incomplete'): void {
    if (this.#items.length === 0) this.#message();
    const open = this.#items.filter(({ isClosed }) => !isClosed);
    for (const entry of open) this.#closeEntry(entry, entry === open.at(-1) ? status : 'completed');
    this.#speaking = undefined;
  }

  /** @param status of the items that are still open */
  toFields(status: ItemStatus): Fields[] {
    return this.#items.map(
      ({ item, isClosed }) => this.#finished.get(item) ?? item.toFields(isClosed ? 'completed' : status),
    );
  }

  #closeEntry(entry: { item: OutputItem; isClosed: boolean }, status: 'completed' | 'incomplete'): void {
    entry.isClosed = true;
    entry.item.close(status);
    this.#finished.set(entry.item, entry.item.toFields(status));
  }

  #message(): MessageItem {
    if (this.#speaking instanceof MessageItem) return this.#speaking;
    this.#stopSpeaking();
    const item = this.#open('msg', (place) => new MessageItem(place));
    this.#speaking = item;
    return item;
  }

  #reasoning(): ReasoningItem {
    if (this.#speaking instanceof ReasoningItem) return this.#speaking;
    this.#stopSpeaking();
    const item = this.#open('rs', (place) => new ReasoningItem(place));
    this.#speaking = item;
    return item;
  }

  #call({ index, id, name }: Extract<ContentPart, { kind: 'tool-call' }>): void {
    this.#stopSpeaking();
    const tool = this.#identity.ask.tools.called.get(name) ?? unknownTool(name);
    const given = id === '' ? callId(this.#identity.id, index) : id;
    const item =
      tool.kind === 'custom'
        ? this.#open('ctc', (place) => new CustomCallItem(place, tool, given))
        : this.#open('fc', (place) => new FunctionCallItem(place, tool, given));
    this.#calls.set(index, item);
  }

  #open<T extends OutputItem>(prefix: ItemPrefix, create: (place: ItemPlace) => T): T {
    const outputIndex = this.#items.length;
    const id = outputItemId(prefix, this.#identity.id, outputIndex);
    const item = create({ id, outputIndex, emit: this.#emit });
    this.#items.push({ item, isClosed: false });
    return item;
  }

  #stopSpeaking(): void {
    const speaking = this.#speaking;
    this.#speaking = undefined;
    const entry = this.#items.find(({ item }) => item === speaking);
    if (entry !== undefined) this.#closeEntry(entry, 'completed');
  }
}

/** A model may call what it was not offered; its caller decides what that means. */
function unknownTool(name: string): CalledTool {
  return { kind: 'function', name, namespace: undefined };
}
