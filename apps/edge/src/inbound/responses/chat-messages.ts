import type { ChatContent } from './content-parts.ts';

export type ChatMessage =
  | { role: 'system' | 'user'; content: ChatContent }
  | AssistantMessage
  | { role: 'tool'; tool_call_id: string; content: ChatContent };

interface AssistantMessage {
  role: 'assistant';
  content: string | null;
  /** Under both names that servers read. */
  reasoning?: string;
  reasoning_content?: string;
  tool_calls?: ChatCall[];
}

export interface ChatCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

/**
 * A conversation as the messages of a chat. What instructs the model becomes one system message in front, because many
 * chat templates take no other; thinking, words and calls of one turn become one assistant message.
 */
export class ChatMessages {
  readonly #system: string[] = [];
  readonly #messages: ChatMessage[] = [];
  /** The turn of the model that what follows may belong to. */
  #turn: AssistantMessage | undefined;
  #thinking = '';

  instruct(text: string): void {
    if (text !== '') this.#system.push(text);
  }

  user(content: ChatContent): void {
    this.#endTurn();
    this.#messages.push({ role: 'user', content });
  }

  think(text: string): void {
    if (text === '') return;
    if (this.#turn !== undefined) this.#endTurn();
    this.#thinking = this.#thinking === '' ? text : `${this.#thinking}\n\n${text}`;
  }

  /** Words after a call belong to the turn of the call: its result has to follow it at once. */
  say(text: string): void {
    if (this.#turn !== undefined && this.#turn.tool_calls === undefined) this.#endTurn();
    const turn = this.#takeTurn();
    turn.content = turn.content === null ? text : `${turn.content}\n\n${text}`;
  }

  call(call: ChatCall): void {
    const turn = this.#takeTurn();
    turn.tool_calls ??= [];
    turn.tool_calls.push(call);
  }

  result(callId: string, content: ChatContent): void {
    this.#endTurn();
    this.#messages.push({ role: 'tool', tool_call_id: callId, content });
  }

  finish(): ChatMessage[] {
    this.#endTurn();
    const system = this.#system.join('\n\n');
    return system === '' ? this.#messages : [{ role: 'system', content: system }, ...this.#messages];
  }

  #takeTurn(): AssistantMessage {
    if (this.#turn !== undefined) return this.#turn;
    const thinking = this.#thinking;
    this.#thinking = '';
    const thought = thinking === '' ? {} : { reasoning: thinking, reasoning_content: thinking };
    this.#turn = { role: 'assistant', content: null, ...thought };
    this.#messages.push(this.#turn);
    return this.#turn;
  }

  #endTurn(): void {
    this.#turn = undefined;
    this.#thinking = '';
  }
}
