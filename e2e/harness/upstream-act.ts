/** What the scripted upstream does with one chat request. */
export type UpstreamAct =
  /** Server-sent events at a pace, and then how they stop. */
  | {
      kind: 'stream';
      /** One `data:` event each: text becomes a delta of content, an object goes out as it is. */
      chunks: readonly (string | object)[];
      /** Before the headers. */
      delayMs?: number;
      /** Between two chunks. */
      paceMs?: number;
      end?: StreamEnd;
    }
  /** One JSON answer after a delay. */
  | { kind: 'json'; content: string; delayMs?: number }
  /** Any bytes with any status, at once. */
  | { kind: 'bytes'; status: number; headers?: Record<string, string>; body: string }
  /** Takes the request and never sends a byte. */
  | { kind: 'hang' }
  /** Closes the connection without an answer. */
  | { kind: 'drop' }
  /** An endless line of an event stream: `sizeBytes` without a blank line. */
  | { kind: 'flood'; sizeBytes: number }
  /** Whole events as fast as the socket takes them. */
  | { kind: 'torrent'; sizeBytes: number };

export type StreamEnd =
  /** Finish reason, usage if asked for, `[DONE]`. */
  | 'done'
  /** The chunks, and then silence. */
  | 'hang'
  /** TCP FIN in the middle of a chunked answer. */
  | 'cut'
  /** TCP RST. */
  | 'reset'
  /** A proper end of the HTTP answer, but no finish reason and no `[DONE]`. */
  | 'end-early'
  /** An event that is not JSON, then `[DONE]`. */
  | 'bad-json';

export interface ChatBody {
  model: string;
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  messages: readonly { role: string; content: unknown }[];
}

const head = { id: 'chatcmpl-up', object: 'chat.completion.chunk', created: 1, model: 'upstream-model' };

export function contentChunk(content: string): object {
  return { ...head, choices: [{ index: 0, delta: { content }, finish_reason: null }] };
}

export const finishChunk: object = { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

export const usageChunk: object = {
  ...head,
  choices: [],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
};

export function chatAnswer(content: string): object {
  return {
    id: 'chatcmpl-up',
    object: 'chat.completion',
    created: 1,
    model: 'upstream-model',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  };
}
