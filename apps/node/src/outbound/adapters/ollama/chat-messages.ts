import { readContent } from './chat-content.ts';
import { type Fields, isFields, isSet, type ProblemList } from './problem-list.ts';

/** A message as Ollama takes it. */
export interface OllamaMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
  thinking?: string;
  /** Base64 without a prefix. */
  images?: string[];
  tool_calls?: OllamaToolCall[];
  tool_call_id?: string;
  tool_name?: string;
}

interface OllamaToolCall {
  id?: string;
  function: { index: number; name: string; arguments: Fields };
}

/** The conversation in Ollama's words; O5. */
export function toOllamaMessages(messages: unknown, problems: ProblemList): OllamaMessage[] {
  if (!Array.isArray(messages) || messages.length === 0) {
    problems.invalid('messages', 'at least one message');
    return [];
  }
  const reader = new MessageReader(problems);
  return messages.flatMap((message, index) => reader.read(message, `messages[${index}]`));
}

class MessageReader {
  readonly #problems: ProblemList;
  /** Of calls so far by id: a result is sent with the name of what was called. */
  readonly #toolNames = new Map<string, string>();

  constructor(problems: ProblemList) {
    this.#problems = problems;
  }

  read(message: unknown, at: string): OllamaMessage[] {
    if (!isFields(message)) {
      this.#problems.invalid(at, 'an object');
      return [];
    }
    switch (message.role) {
      case 'system':
      case 'developer':
        return [{ role: 'system', ...readContent(message.content, `${at}.content`, this.#problems) }];
      case 'user':
        return [{ role: 'user', ...readContent(message.content, `${at}.content`, this.#problems) }];
      case 'assistant':
        return [this.#assistant(message, at)];
      case 'tool':
      case 'function':
        return [this.#result(message, at)];
      default:
        this.#problems.invalid(`${at}.role`, 'system, developer, user, assistant or tool');
        return [];
    }
  }

  #assistant(message: Fields, at: string): OllamaMessage {
    const thinking = message.reasoning_content ?? message.reasoning;
    const calls = this.#calls(message.tool_calls, `${at}.tool_calls`);
    if (isSet(message.function_call)) {
      this.#problems.unsupported(`${at}.function_call`, 'the form before tool_calls is not taken');
    }
    const content = isSet(message.content) ? message.content : (message.refusal ?? '');
    return {
      role: 'assistant',
      ...readContent(content, `${at}.content`, this.#problems),
      ...(typeof thinking === 'string' && thinking !== '' && { thinking }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
  }

  #calls(calls: unknown, at: string): OllamaToolCall[] {
    if (!isSet(calls)) return [];
    if (!Array.isArray(calls)) {
      this.#problems.invalid(at, 'an array');
      return [];
    }
    return calls.flatMap((call, index) => this.#call(call, index, `${at}[${index}]`));
  }

  #call(call: unknown, index: number, at: string): OllamaToolCall[] {
    const called = isFields(call) ? call.function : undefined;
    if (!isFields(call) || !isFields(called) || typeof called.name !== 'string') {
      this.#problems.invalid(at, 'a call of a function with a name');
      return [];
    }
    const { name } = called;
    const args = toArguments(called.arguments);
    if (args === undefined) {
      this.#problems.invalid(`${at}.function.arguments`, 'a JSON object as a string');
      return [];
    }
    if (typeof call.id !== 'string') return [{ function: { index, name, arguments: args } }];
    this.#toolNames.set(call.id, name);
    return [{ id: call.id, function: { index, name, arguments: args } }];
  }

  #result(message: Fields, at: string): OllamaMessage {
    const id = typeof message.tool_call_id === 'string' ? message.tool_call_id : undefined;
    const given = typeof message.name === 'string' ? message.name : undefined;
    const name = given ?? (id === undefined ? undefined : this.#toolNames.get(id));
    return {
      role: 'tool',
      ...readContent(message.content, `${at}.content`, this.#problems),
      ...(id !== undefined && { tool_call_id: id }),
      ...(name !== undefined && { tool_name: name }),
    };
  }
}

/** Undefined: no object. A call without arguments is written as an empty string by some clients. */
function toArguments(given: unknown): Fields | undefined {
  if (isFields(given)) return given;
  if (!isSet(given) || given === '') return {};
  if (typeof given !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(given);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
