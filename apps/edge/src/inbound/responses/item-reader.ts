import type { Fields } from '../http/problem.ts';
import type { ChatMessages } from './chat-messages.ts';
import { summaryOf } from './compaction-text.ts';
import { textOf, toChatContent } from './content-parts.ts';
import type { ProblemBook } from './problem-book.ts';
import type { ToolPlan } from './tool-plan.ts';

export interface ItemReaderInit {
  messages: ChatMessages;
  plan: ToolPlan;
  problems: ProblemBook;
}

/** Reads items of responses, the caller's and our own, into a chat. */
export class ItemReader {
  readonly #messages: ChatMessages;
  readonly #plan: ToolPlan;
  readonly #problems: ProblemBook;

  constructor({ messages, plan, problems }: ItemReaderInit) {
    this.#messages = messages;
    this.#plan = plan;
    this.#problems = problems;
  }

  /** @param at its path in the request, for problems */
  read(item: Fields, at: string): void {
    switch (item.type ?? 'message') {
      case 'message':
        this.#message(item, at);
        break;
      case 'function_call':
      case 'custom_tool_call':
        this.#call(item, at);
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#result(item, at);
        break;
      case 'reasoning':
        this.#reasoning(item, at);
        break;
      case 'compaction':
        this.#compaction(item, at);
        break;
      default:
        this.#problems.unsupported(`${at}.type`, `no chat has an item of type ${JSON.stringify(item.type)}`);
    }
  }

  #message(item: Fields, at: string): void {
    const content = toChatContent(item.content, `${at}.content`, this.#problems);
    switch (item.role) {
      case 'system':
      case 'developer':
        this.#messages.instruct(textOf(content));
        break;
      case 'user':
        this.#messages.user(content);
        break;
      case 'assistant':
        this.#messages.say(textOf(content));
        break;
      default:
        this.#problems.invalid(`${at}.role`, 'must be user, assistant, system or developer');
    }
  }

  #call(item: Fields, at: string): void {
    const isCustom = item.type === 'custom_tool_call';
    const [field, given] = isCustom ? ['input', item.input] : ['arguments', item.arguments];
    const id = this.#text(item.call_id, `${at}.call_id`);
    const name = this.#text(item.name, `${at}.name`);
    const text = this.#text(given, `${at}.${field}`);
    const json = isCustom ? JSON.stringify({ input: text }) : text;
    const called = { name: this.#chatName(item, name), arguments: json };
    this.#messages.call({ id, type: 'function', function: called });
  }

  /** The name under which the model knows it now; a tool that is offered no longer keeps its own. */
  #chatName({ type, namespace }: Fields, name: string): string {
    const kind = type === 'custom_tool_call' ? 'custom' : 'function';
    for (const [chatName, tool] of this.#plan.called) {
      const isSame = tool.kind === kind && tool.name === name;
      if (isSame && tool.namespace === (namespace ?? undefined)) return chatName;
    }
    return name;
  }

  #result({ call_id: id, output }: Fields, at: string): void {
    const callId = this.#text(id, `${at}.call_id`);
    this.#messages.result(callId, toChatContent(output, `${at}.output`, this.#problems));
  }

  #reasoning({ summary, content }: Fields, at: string): void {
    const whole = textOf(toChatContent(content, `${at}.content`, this.#problems));
    this.#messages.think(whole || textOf(toChatContent(summary, `${at}.summary`, this.#problems)));
  }

  #compaction({ encrypted_content: content }: Fields, at: string): void {
    const summary = summaryOf(content);
    if (summary === undefined) this.#problems.unsupported(`${at}.encrypted_content`, 'it was not made here');
    else this.#messages.user(summary);
  }

  #text(value: unknown, at: string): string {
    if (typeof value === 'string') return value;
    this.#problems.wrongType(at, 'a string', value);
    return '';
  }
}
