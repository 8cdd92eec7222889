import type { Fields } from '../http/problem.ts';
import { blocksOf, toParts } from './block-text.ts';
import {
  type AssistantMessage,
  type ChatMessage,
  type ChatPart,
  textPart,
  toUserContent,
} from './chat-message.ts';

/** Says which release of which agent asks, anew with every release: no engine needs it, and it spoils prefix caches. */
const billingHeader = 'x-anthropic-billing-header:';

/**
 * The system prompt and the messages as a chat.
 *
 * V1: neighbouring messages of one role are one turn, as their authors mean it.
 * V2: results of tools follow the calls at once, whatever stands beside them in their message.
 * V3: a system message between others keeps its place, as a marked text of the user: most chat templates take none there.
 */
export function toConversation(body: Fields): ChatMessage[] {
  const chat = new Conversation();
  chat.system(body.system);
  const messages = Array.isArray(body.messages) ? (body.messages as Fields[]) : [];
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  for (const [index, message] of messages.entries()) {
    const isOver = message.clear_at === 'next_user_message' && index < lastUser;
    if (message.role === 'assistant') chat.assistant(blocksOf(message.content));
    else if (message.role === 'user') chat.user(blocksOf(message.content));
    else if (!isOver) chat.system(message.content);
  }
  return chat.messages();
}

type Turn =
  | { role: 'user'; parts: ChatPart[] }
  | { role: 'assistant'; blocks: Fields[] }
  | Extract<ChatMessage, { role: 'tool' }>;

class Conversation {
  readonly #system: string[] = [];
  readonly #turns: Turn[] = [];

  system(content: unknown): void {
    const texts = blocksOf(content)
      .filter(isShown)
      .map(({ text }) => String(text));
    if (this.#turns.length === 0) this.#system.push(...texts);
    else if (texts.length > 0)
      this.#said([textPart(`<system-reminder>\n${texts.join('\n')}\n</system-reminder>`)]);
  }

  user(blocks: readonly Fields[]): void {
    const images: ChatPart[] = [];
    for (const block of blocks) if (block.type === 'tool_result') images.push(...this.#result(block));
    this.#said([...images, ...blocks.flatMap(toParts)]);
  }

  assistant(blocks: readonly Fields[]): void {
    const last = this.#turns.at(-1);
    if (last?.role === 'assistant') last.blocks.push(...blocks);
    else this.#turns.push({ role: 'assistant', blocks: [...blocks] });
  }

  messages(): ChatMessage[] {
    const messages = this.#turns.map(toMessage);
    if (this.#system.length === 0) return messages;
    return [{ role: 'system', content: this.#system.join('\n') }, ...messages];
  }

  #said(parts: readonly ChatPart[]): void {
    if (parts.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === 'user') last.parts.push(...parts);
    else this.#turns.push({ role: 'user', parts: [...parts] });
  }

  /** The words of a result; its images come back, because only a user can show them. */
  #result({ tool_use_id: id, content, is_error: isError }: Fields): ChatPart[] {
    const parts = blocksOf(content).flatMap(toParts);
    const images = parts.filter(({ type }) => type === 'image_url');
    const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    if (images.length > 0) words.push(`(${images.length} image(s): see below)`);
    const text = words.join('\n');
    const callId = String(id);
    this.#turns.push({
      role: 'tool',
      tool_call_id: callId,
      content: isError === true ? `Error: ${text}` : text,
    });
    return images.length === 0 ? [] : [textPart(`Images that the tool call ${callId} gave:`), ...images];
  }
}

function isShown({ type, text }: Fields): boolean {
  return type === 'text' && !String(text).startsWith(billingHeader);
}

function toMessage(turn: Turn): ChatMessage {
  if (turn.role === 'tool') return turn;
  if (turn.role === 'user') return { role: 'user', content: toUserContent(turn.parts) };
  return toAssistant(turn.blocks);
}

/** Thoughts go along: models that think between their calls lose the thread without them. */
function toAssistant(blocks: readonly Fields[]): AssistantMessage {
  const of = (kind: string) => blocks.filter(({ type }) => type === kind);
  const text = of('text')
    .map((block) => String(block.text))
    .join('\n');
  const thinking = of('thinking')
    .map((block) => String(block.thinking))
    .filter((each) => each !== '')
    .join('\n');
  const calls = of('tool_use').map(({ id, name, input }) => ({
    id: String(id),
    type: 'function' as const,
    function: {
      name: String(name),
      arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
    },
  }));
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}
