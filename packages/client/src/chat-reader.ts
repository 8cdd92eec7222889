/** What a person sees of a chat answer. */
export type ChatPiece =
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string }
  /** A call of a tool begins (`name`) or goes on. */
  | { kind: 'tool-call'; index: number; name: string; arguments: string }
  /** The upstream said inside its stream that it failed. */
  | { kind: 'error'; message: string };

interface ToolCall {
  index?: number;
  function?: { name?: string; arguments?: string };
}

interface Message {
  content?: string | null;
  reasoning?: string | null;
  reasoning_content?: string | null;
  tool_calls?: readonly ToolCall[];
}

/** As much of `chat.completion` and `chat.completion.chunk` as is shown. */
interface Answer {
  choices?: readonly { index?: number; delta?: Message; message?: Message }[];
  error?: { message?: string } | string;
}

/**
 * Reads the raw events of dialect `openai.chat`, streamed or whole, as text for people. Only the first
 * of several choices is shown. What cannot be read is passed over: this is for eyes, programs take the
 * bytes.
 */
export class ChatReader {
  readonly #decoder = new TextDecoder();
  #held = '';

  /** Of a stream: whole or partial server-sent events. */
  read(bytes: Uint8Array): ChatPiece[] {
    const text = this.#held + this.#decoder.decode(bytes, { stream: true });
    this.#held = text.replaceAll('\r\n', '\n');
    const events = this.#held.split('\n\n');
    this.#held = events.pop() ?? '';
    return events.flatMap(readEvent);
  }

  /** What was held back: the rest of a stream, or a whole answer that was no stream. */
  finish(): ChatPiece[] {
    const rest = this.#held + this.#decoder.decode();
    this.#held = '';
    return rest.trimStart().startsWith('{') ? readAnswer(rest) : readEvent(rest);
  }
}

function readEvent(event: string): ChatPiece[] {
  const data = event
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trimStart());
  return readAnswer(data.join('\n'));
}

function readAnswer(json: string): ChatPiece[] {
  const answer = parse(json);
  if (answer === undefined) return [];
  const pieces = (answer.choices ?? [])
    .filter((choice) => (choice.index ?? 0) === 0)
    .flatMap((choice) => readMessage(choice.delta ?? choice.message ?? {}));
  return answer.error === undefined ? pieces : [...pieces, { kind: 'error', message: wordsOf(answer.error) }];
}

function readMessage(message: Message): ChatPiece[] {
  const reasoning = message.reasoning ?? message.reasoning_content ?? '';
  const text = message.content ?? '';
  const pieces: ChatPiece[] = [];
  if (reasoning !== '') pieces.push({ kind: 'reasoning', text: reasoning });
  if (text !== '') pieces.push({ kind: 'text', text });
  for (const [at, call] of (message.tool_calls ?? []).entries()) {
    const { name = '', arguments: args = '' } = call.function ?? {};
    pieces.push({ kind: 'tool-call', index: call.index ?? at, name, arguments: args });
  }
  return pieces;
}

function wordsOf(error: NonNullable<Answer['error']>): string {
  return typeof error === 'string' ? error : (error.message ?? 'unknown error');
}

function parse(json: string): Answer | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Answer) : undefined;
  } catch {
    return undefined;
  }
}
